import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import {
  FileLockBackend,
  type FileLockBackendOptions,
} from "../../../../src/infrastructure/locking/file/file-lock-backend";
import {
  mountedAs,
  networkFilesystemNamed,
  networkFilesystemOf,
} from "../../../../src/infrastructure/locking/file/directory/network-filesystem";
import { describeOnLinux } from "../../../support/servers/servers";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const FUSE = 0x65735546;
const notAsked = (): Promise<never> => Promise.reject(new Error("the mounts say nothing about this type"));

describe("the type that statfs tells", () => {
  it.each([
    ["NFS", 0x6969],
    ["SMB", 0x517b],
    ["SMB", 0xfe534d42],
    ["CIFS", 0xff534d42],
    // The same where a number has a sign.
    ["CIFS", 0xff534d42 - 2 ** 32],
    ["AFS", 0x5346414f],
    ["Ceph", 0x00c36400],
    ["Lustre", 0x0bd00bd0],
    ["GPFS", 0x47504653],
  ])("the type that statfs tells is recognised as a network: %s (%i)", async (name, type) => {
    expect(await networkFilesystemNamed(type, notAsked)).toBe(name);
  });

  it.each([
    ["ext4", 0xef53],
    ["XFS", 0x58465342],
    ["btrfs", 0x9123683e],
    ["ZFS", 0x2fc12fc1],
    ["tmpfs", 0x01021994],
    ["overlay", 0x794c7630],
    // How a virtual machine sees the disk of its host.
    ["9p", 0x01021997],
  ])("the type that statfs tells is recognised as local: %s (%i)", async (_name, type) => {
    expect(await networkFilesystemNamed(type, notAsked)).toBeNull();
  });

  it.each([
    ["fuse.sshfs", "sshfs"],
    ["fuse.gcsfuse", "gcsfuse"],
    ["fuse.glusterfs", "glusterfs"],
    ["fuse.gocryptfs", null],
    ["fuseblk", null],
    ["virtiofs", null],
    [null, null],
  ])("of a filesystem in user space leaves it to the name of the mount: %s", async (mounted, name) => {
    expect(await networkFilesystemNamed(FUSE, async () => mounted)).toBe(name);
  });
});

describe("the kernel's list of mounts", () => {
  const list = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "36 22 0:45 / /home/us/my\\040host rw,nosuid,nodev shared:2 master:3 - fuse.sshfs us@host:/ rw,user_id=1000",
    "37 22 0:4660 / /mnt rw - fuse.s3fs s3fs rw",
    "",
  ].join("\n");

  it("the kernel's list of mounts names the type of the mount with a device", () => {
    expect(mountedAs(8 * 256 + 1, list)).toBe("ext4");
    expect(mountedAs(45, list)).toBe("fuse.sshfs");
    // 0x1234: what does not fit into eight bits lies elsewhere.
    expect(mountedAs(0x34 + 0x12 * 2 ** 20, list)).toBe("fuse.s3fs");
    expect(mountedAs(4711, list)).toBeNull();
  });
});

describeOnLinux("on this machine", () => {
  it.each(["/proc", "/dev", __dirname, process.cwd(), "/"])(
    "the folder %s of this machine is on a local file system",
    async (directory) => {
      expect(await networkFilesystemOf(directory)).toBeNull();
    },
  );

  it("a device that stat tells is found in the kernel's own list", () => {
    expect(mountedAs(statSync("/proc").dev, readFileSync("/proc/self/mountinfo", "utf8"))).toBe("proc");
  });
});

describe("a lock directory on a network filesystem", () => {
  const temporary = temporaryDirectory();
  const networkFilesystemOfNfs = async () => "NFS";
  async function take(options: Partial<FileLockBackendOptions> = {}): Promise<void> {
    const locks = new LinedLockProvider(
      new FileLockBackend({
        directory: temporary.path,
        networkFilesystemOf: networkFilesystemOfNfs,
        ...options,
      }),
    );
    await locks.withLock("task:nightly", async () => {}, { timeout: 0 }).finally(() => locks.close());
  }
  const mode = () => readFileSync(join(temporary.path, "MODE"), "utf8").trim();

  it("a lock directory on a network filesystem is bound to exclusive create, where there is a choice", async () => {
    await take();
    expect(mode()).toBe("exclusive-create");
  });

  it("a lock directory on a network filesystem is refused if kernel locks were asked for, and says why", async () => {
    await expect(take({ mode: "kernel" })).rejects.toMatchObject({ permanent: true });
    await expect(take({ mode: "kernel" })).rejects.toThrow(
      /was asked for kernel locks, which .* \(it is on a network \(NFS\), .*mode=exclusive-create/,
    );
  });

  it("a lock directory on a network filesystem is refused if it is bound to kernel locks already, and stays so", async () => {
    writeFileSync(join(temporary.path, "MODE"), "kernel\n");
    await expect(take()).rejects.toThrow(/is bound to kernel locks, .*on a network \(NFS\)/);
    expect(mode()).toBe("kernel");
  });
});
