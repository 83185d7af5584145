import { parseArgs } from "node:util";
import { GcsStandIn } from "./gcs-stand-in";

const USAGE = "usage: npm run gcs-stand-in -- [--port 4443] [--bucket locks]... [--no-rate-limit]";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "4443" },
      bucket: { type: "string", multiple: true, default: ["locks"] },
      "no-rate-limit": { type: "boolean", default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is not a port`);

  const standIn = await GcsStandIn.start({
    port,
    buckets: values.bucket,
    limitMutations: !values["no-rate-limit"],
  });
  const [bucket] = values.bucket;
  process.stdout.write(
    [
      `A stand-in for Google Cloud Storage listens at ${standIn.url}; buckets: ${values.bucket.join(", ")}.`,
      "It keeps everything in memory, checks no credentials, and is for tests and trials only.",
      "",
      "In another terminal, for example:",
      `  export STORAGE_EMULATOR_HOST=${standIn.url}`,
      `  holdfast run --locks gs://${bucket}/jobs nightly-settlement -- sleep 30`,
      "",
      "End it with Ctrl-C.",
      "",
    ].join("\n"),
  );
  const stop = () => void standIn.close();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`gcs-stand-in: ${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exitCode = 64;
});
