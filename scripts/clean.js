// An old file in dist must not survive the source it came from.
require("node:fs").rmSync("dist", { recursive: true, force: true });
