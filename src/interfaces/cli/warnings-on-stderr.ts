/** The name under which what is no error is reported where there is nobody to return it to. */
const OURS = "HoldfastWarning";

/** Tells our own warnings as the command line tells things; all others stay with Node. Returns how to stop. */
export function warningsOnStderr(tell: (message: string) => void): () => void {
  const others = process.listeners("warning");
  const listener = (warning: Error): void => {
    if (warning.name === OURS) tell(warning.message);
    else for (const other of others) other.call(process, warning);
  };
  for (const other of others) process.off("warning", other);
  process.on("warning", listener);
  return () => {
    process.off("warning", listener);
    for (const other of others) process.on("warning", other);
  };
}
