import { FileKeys } from "../../../../src/client";

/** Stores one key after the other in a directory, and tells each as soon as it has it. */
async function main([directory = "", key = ""]: readonly string[]): Promise<void> {
  const keys = new FileKeys(directory);
  for (let order = 0; ; order += 1) console.log(order, await keys.keep(`order ${order}`, key));
}

void main(process.argv.slice(2));
