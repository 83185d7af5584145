import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly boolValue?: boolean };
}

/** A span as OTLP has it in JSON. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly service: string;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, "service">[] }[];
  }[];
}

/** Takes traces as a collector does, by OTLP over HTTP in JSON, and keeps them. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const isTraces = request.method === "POST" && request.url === "/v1/traces";
        if (isTraces) collector.take(JSON.parse(Buffer.concat(chunks).toString()) as Sent);
        response.writeHead(isTraces ? 200 : 404, { "content-type": "application/json" }).end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  named(name: string): readonly CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private take({ resourceSpans }: Sent): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = valueOf(resource, "service.instance.id") ?? "";
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }
}

export function valueOf({ attributes }: { readonly attributes: readonly Attribute[] }, key: string) {
  return attributes.find((one) => one.key === key)?.value.stringValue;
}
