import { readFileSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";

/**
 * What Linux calls them in `statfs` (linux/magic.h and the filesystems' own sources). Their locks are a server's, which
 * may forget them while a holder goes on, and tells nobody.
 */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x19830326, "BeeGFS"],
  [0xaad7aaea, "PanFS"],
]);

const FUSE = 0x65735546;

/** In user space anything may be behind a mount, and only its name tells what. These are networks. */
const NETWORK_IN_USER_SPACE = new Set(
  "sshfs s3fs gcsfuse glusterfs ceph-fuse rclone davfs goofys mount-s3 mountpoint-s3 blobfuse blobfuse2 juicefs seaweedfs mfs curlftpfs smbnetfs".split(
    " ",
  ),
);

/** The name of the network filesystem that a directory is on; null for a local one, and where the platform has no such types. */
export async function networkFilesystemOf(directory: string): Promise<string | null> {
  if (process.platform !== "linux") return null;
  const { type } = await statfs(directory);
  return networkFilesystemNamed(type, async () =>
    mountedAs((await stat(directory)).dev, readFileSync("/proc/self/mountinfo", "utf8")),
  );
}

export async function networkFilesystemNamed(
  type: number,
  mounted: () => Promise<string | null>,
): Promise<string | null> {
  // As the kernel counts: without a sign.
  const magic = type >>> 0;
  if (magic !== FUSE) return NETWORK.get(magic) ?? null;
  const name = (await mounted())?.replace(/^fuse\./, "") ?? null;
  return name !== null && NETWORK_IN_USER_SPACE.has(name) ? name : null;
}

/** The type of the mount with this device, by the kernel's list: `36 35 98:0 /root /place options … - fuse.sshfs …`. */
export function mountedAs(device: number, mountInfo: string): string | null {
  for (const line of mountInfo.split("\n")) {
    const [, major, minor, type] = /^\d+ \d+ (\d+):(\d+) .* - (\S+) /.exec(line) ?? [];
    if (type !== undefined && deviceNumber(Number(major), Number(minor)) === device) return type;
  }
  return null;
}

/** As `stat` packs it. */
function deviceNumber(major: number, minor: number): number {
  const high = Math.floor(major / 2 ** 12) * 2 ** 44 + Math.floor(minor / 2 ** 8) * 2 ** 20;
  return high + (major % 2 ** 12) * 2 ** 8 + (minor % 2 ** 8);
}
