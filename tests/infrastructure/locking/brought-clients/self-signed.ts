import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  readonly folder: string;
  readonly cert: string;
  readonly key: string;
  /** What a client has to trust. */
  readonly pem: string;
  remove(): void;
}

/** For 127.0.0.1, signed by nobody but itself, in files that a PostgreSQL of the test's own may read. */
export function selfSigned(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-certificate-"));
  const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const args = ["req", "-x509", ...curve, "-nodes", "-days", "2", ...subject, "-keyout", key, "-out", cert];
  execFileSync("openssl", args, { stdio: "ignore" });
  chmodSync(folder, 0o755);
  chmodSync(key, 0o600);
  // As root, tests run their server as the system's `postgres` user.
  if (process.getuid?.() === 0)
    chownSync(key, Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })), 0);
  return {
    folder,
    cert,
    key,
    pem: readFileSync(cert, "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
