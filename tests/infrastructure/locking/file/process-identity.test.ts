import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { LocalProcesses } from "../../../../src/infrastructure/locking/file/exclusive-create/process-identity";

describe("whether a process is gone", () => {
  const processes = new LocalProcesses();
  const self = processes.self();

  it("whether a process is gone is never so for ourselves", async () => {
    expect(self.pid).toBe(process.pid);
    expect(await processes.fateOf(self)).toBe("alive");
  });

  it("whether a process is gone cannot be told of another host", async () => {
    expect(await processes.fateOf({ ...self, host: "another-host", pid: 1 })).toBe("unknown");
  });

  it("whether a process is gone is so for a number that nobody has", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    const pid = child.pid!;
    await once(child, "exit");
    expect(await processes.fateOf({ ...self, pid, startTime: "1" })).toBe("gone");
    expect(processes.startTimeOf(pid)).toBeNull();
  });

  // Elsewhere there is no /proc to read, and only the number counts.
  if (process.platform !== "linux") return;

  describe("on Linux", () => {
    it("whether a process is gone on Linux cannot be told of another PID namespace, where the same number is another process", async () => {
      const inAContainer = { ...self, pidNamespace: "pid:[4026530000]", startTime: "1" };
      expect(await processes.fateOf(inAContainer)).toBe("unknown");
    });

    it("whether a process is gone on Linux is so for every process from before the machine was started", async () => {
      expect(await processes.fateOf({ ...self, bootId: "an-earlier-boot" })).toBe("gone");
    });

    it("whether a process is gone on Linux cannot be told where either side did not know its boot", async () => {
      expect(await processes.fateOf({ ...self, bootId: null })).toBe("unknown");
    });

    it("whether a process is gone on Linux is so when the number belongs to a process that started at another time", async () => {
      expect(await processes.fateOf({ ...self, startTime: "1" })).toBe("gone");
    });

    it("whether a process is gone on Linux is so for a killed process that its parent has not counted yet", async () => {
      // The shell replaces itself by a program that never waits for the child the shell had started.
      const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const [line] = (await once(parent.stdout, "data")) as [Buffer];
        while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") await turn();
        const pid = Number(line.toString());
        const child = { ...self, pid, startTime: processes.startTimeOf(pid) };
        expect(await processes.fateOf(child)).toBe("alive");
        process.kill(pid, "SIGKILL");
        while (!readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")) await turn();
        expect(processes.startTimeOf(pid)).toBe(child.startTime);
        expect(await processes.fateOf(child)).toBe("gone");
      } finally {
        parent.kill("SIGKILL");
        await once(parent, "exit");
      }
    });
  });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
