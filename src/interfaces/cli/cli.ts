import { Command, CommanderError, Option } from "commander";
import type { Backend, ConfiguredBackend, Flags } from "./backend";
import { configCommand } from "./commands/config";
import { expireCommand } from "./commands/expire";
import { gatewayCommand } from "./commands/gateway";
import { keysCommand } from "./commands/keys";
import { locksCommand } from "./commands/locks";
import { migrateCommand } from "./commands/migrate";
import { paymentsCommand } from "./commands/payments";
import { reconcileCommand } from "./commands/reconcile";
import { reviewCommand } from "./commands/review";
import { runCommandOnce } from "./commands/run";
import { serveCommand } from "./commands/serve";
import { exitStatus, statusOf } from "./exit-status";
import { Output, type Streams } from "./output";

/** What each command is given: the configuration is read when it asks for it, and not for `--help`. */
export interface CommandContext {
  configured(): ConfiguredBackend;
  output(): Output;
  /** Ends with another status than 0 although nothing is wrong with us; `signal`: what ended the command we ran. */
  end(status: number, signal?: NodeJS.Signals | null): void;
}

/**
 * Runs one command line and resolves with the exit status. `interrupted` is called if a SIGINT is behind it: whoever called
 * us has to see that, since a shell ends its loop only then.
 */
export async function runCli(
  argv: readonly string[],
  backend: Backend,
  streams: Streams,
  interrupted: () => void = () => {},
): Promise<number> {
  const program = new Command("holdfast");
  const output = () => {
    const { json, quiet } = program.opts<{ json?: boolean; quiet?: boolean }>();
    return new Output(streams, { json: json === true, quiet: quiet === true });
  };
  let status: number = exitStatus.done;
  const context: CommandContext = {
    configured: () => backend.configure(flagsOf(program.opts())),
    output,
    end: (wanted, signal) => {
      status = wanted;
      if (signal === "SIGINT") interrupted();
    },
  };
  program
    .description("Captures each payment exactly once, and runs one job at a time.")
    .version(backend.version)
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, "").replace(/^(?=.)/gm, "holdfast: ")),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("holdfast: try holdfast --help")
    .exitOverride()
    .addOption(new Option("--config <file>", "configuration file (default: holdfast.toml, if it is there)"))
    .addOption(
      new Option("--lock-timeout <seconds|infinite>", "how long to wait for a lock; 0 makes one attempt"),
    )
    .addOption(new Option("--json", "print results as JSON"))
    .addOption(new Option("--quiet", "no remarks on stderr, only errors"));
  for (const { flag, argument, describe, fallback } of backend.settingFlags) {
    const shown = fallback === null || argument === "" ? describe : `${describe} (default: ${fallback})`;
    program.addOption(new Option(argument === "" ? `--${flag}` : `--${flag} ${argument}`, shown));
  }
  for (const make of [
    serveCommand,
    runCommandOnce,
    paymentsCommand,
    reviewCommand,
    gatewayCommand,
    locksCommand,
    keysCommand,
    migrateCommand,
    reconcileCommand,
    expireCommand,
    configCommand,
  ]) {
    program.addCommand(adopted(make(context), program));
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.usage;
    const planned = statusOf(error);
    if (planned === null) output().error(describeDefect(error));
    else output().failure(error as Error);
    return planned ?? exitStatus.failed;
  }
}

/** Errors and help of a command's own commands go the same way as the program's. */
function adopted(command: Command, program: Command): Command {
  command.copyInheritedSettings(program);
  for (const own of command.commands) adopted(own, program);
  return command;
}

/** Commander camel-cases the names; the settings know them as they are typed. */
function flagsOf(options: Record<string, unknown>): Flags {
  const entries = Object.entries(options).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    typeof value === "boolean" || typeof value === "string" ? String(value) : undefined,
  ]);
  return Object.fromEntries(entries) as Flags;
}

function describeDefect(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
