import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ServerUnderLoad } from "./holdfast-server";

/** A server of the bench in a process of its own, which tells its port, and its CPU time when asked. */
export async function startChild(name: string, args: readonly string[] = []): Promise<ServerUnderLoad> {
  const child: ChildProcess = fork(join(__dirname, `../${name}.js`), args);
  const ended = once(child, "exit");
  const heard = async (): Promise<number> => Number((await once(child, "message"))[0]);
  return {
    port: await heard(),
    cpuMicroseconds: () => {
      const answer = heard();
      child.send("cpu");
      return answer;
    },
    stop: async () => {
      child.disconnect();
      await ended;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
