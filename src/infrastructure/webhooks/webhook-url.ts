import { WebhookError } from "../../domain/webhooks/errors";
import { adviceOn, METADATA_SERVICE, type WebhookAllowances } from "./address-rules";

const MAX_LENGTH = 2_048;

/** Services that take a request for something else: mail, shells, name and directory services, databases, queues. */
const CLOSED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445, 465, 512,
  513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 623, 636, 873, 989, 990, 993, 995,
  1080, 1433, 1434, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 2525, 3050, 3128, 3306, 3389,
  3659, 4045, 4190, 4222, 5060, 5061, 5432, 5433, 5672, 5984, 6000, 6379, 6380, 6432, 6566, 6665, 6666, 6667,
  6668, 6669, 6697, 7000, 7001, 7199, 7474, 7687, 8086, 8123, 8529, 9042, 9092, 9160, 9200, 9300, 10080,
  10250, 10255, 11211, 15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 33060, 50000,
]);

/** The URL in its one spelling, if it has the form of one that webhooks may go to. Throws `WebhookError`. */
export function webhookUrl(text: string, allowed: WebhookAllowances): URL {
  if (text.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) {
    throw new WebhookError(
      "webhook_url_malformed",
      `The URL is not one that a webhook can be sent to: it is an absolute https:// URL of at most ${MAX_LENGTH} visible ASCII characters.`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowed.http)) {
    throw new WebhookError(
      "webhook_url_not_https",
      `The URL begins with ${url.protocol}, and webhooks go to ${allowed.http ? "https: or http:" : "https:"} only${url.protocol === "http:" ? ", unless an operator allows http (--webhooks-allow http)" : ""}.`,
    );
  }
  // Parsers forgive all of these, each in its own way: what is stored has to be what was meant.
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined || text.includes("\\")) {
    throw new WebhookError(
      "webhook_url_malformed",
      `The URL has no host behind ${url.protocol}//, or a backslash in it: write it as ${url.protocol}//host/path.`,
    );
  }
  if (authority.includes("@")) {
    throw new WebhookError(
      "webhook_url_has_credentials",
      "The URL carries a user or a password: each delivery is signed instead, verify its signature.",
    );
  }
  if (text.includes("#")) {
    throw new WebhookError(
      "webhook_url_malformed",
      "The URL has a fragment (#…), which no server would be sent.",
    );
  }
  const port = Number(url.port);
  if (url.port !== "" && CLOSED_PORTS.has(port)) {
    throw new WebhookError(
      "webhook_url_port_forbidden",
      `Port ${port} belongs to a service that is no web server: no webhook goes there.`,
    );
  }
  const refusal = refusalOfName(url.hostname, allowed);
  if (refusal !== null) {
    throw new WebhookError(
      "webhook_url_address_forbidden",
      `No webhook can be sent there: ${url.hostname} is ${refusal}. ${adviceOn(refusal)}`,
    );
  }
  return url;
}

/** Of names that say by themselves that they lead nowhere else, whatever a name server answers now. */
function refusalOfName(hostname: string, allowed: WebhookAllowances): string | null {
  const name = hostname.replace(/\.+$/, "");
  if (name === "metadata.google.internal") return `the name of ${METADATA_SERVICE}`;
  if (allowed.private || name.startsWith("[")) return null;
  if (name === "localhost" || name.endsWith(".localhost")) return "a name of this host";
  return name.includes(".") ? null : "a name of a private network, without a domain";
}
