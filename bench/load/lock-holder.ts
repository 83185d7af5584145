// Keeps file locks, in a process of its own, until the one that started it lets go.
import { FileLockProvider } from "../../src/infrastructure/locking/file/file-lock-provider";

const [directory = "", ...ids] = process.argv.slice(2);

async function main(): Promise<void> {
  const locks = new FileLockProvider(directory);
  const ended = new Promise<void>((resolve) => process.once("disconnect", resolve));
  let inside = 0;
  const section = async (): Promise<void> => {
    inside += 1;
    if (inside === ids.length) process.send?.("holding");
    await ended;
  };
  await Promise.all(ids.map((id) => locks.withLock(id, section)));
  await locks.close();
}

void main();
