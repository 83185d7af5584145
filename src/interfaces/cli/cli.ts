import { Command, CommanderError, Option } from "commander";
import type { Backend, ConfiguredBackend, Flags } from "./backend";
import { auditCommand } from "./commands/audit/list-audit";
import { configCommand } from "./commands/config";
import { eventsCommand } from "./commands/events";
import { expireCommand } from "./commands/expire";
import { gatewayCommand } from "./commands/gateway";
import { keysCommand } from "./commands/keys";
import { locksCommand } from "./commands/locks";
import { merchantsCommand } from "./commands/merchants";
import { migrateCommand } from "./commands/migrate";
import { paymentsCommand } from "./commands/payments";
import { reconcileCommand } from "./commands/reconcile";
import { reviewCommand } from "./commands/review";
import { runCommandOnce } from "./commands/run";
import { healthCommand } from "./commands/serving/health";
import { serveCommand } from "./commands/serving/serve";
import { exitStatus, statusOf, UsageError } from "./exit-status";
import { webhooksCommand } from "./commands/webhooks";
import { Output, type Streams } from "./output";
import { warningsOnStderr } from "./warnings-on-stderr";

/** As much as the server takes. */
const MAX_REASON = 2_000;

/** What each command is given: the configuration is read when it asks for it, and not for `--help`. */
export interface CommandContext {
  configured(): ConfiguredBackend;
  output(): Output;
  /** Why something is done, for the audit; null where nobody said so. */
  reason(): string | null;
  /** Ends with another status than 0 although nothing is wrong with us; `signal`: what ended the command we ran. */
  end(status: number, signal?: NodeJS.Signals | null): void;
}

type Make = (context: CommandContext) => Command;

const MAKES: readonly Make[] = [
  serveCommand,
  healthCommand,
  runCommandOnce,
  paymentsCommand,
  reviewCommand,
  webhooksCommand,
  gatewayCommand,
  auditCommand,
  eventsCommand,
  locksCommand,
  keysCommand,
  merchantsCommand,
  migrateCommand,
  reconcileCommand,
  expireCommand,
  configCommand,
];

/** Those that a running server answers, and the one that shows all settings. */
const ASKS_SERVER: ReadonlySet<Make> = new Set([
  healthCommand,
  paymentsCommand,
  reviewCommand,
  webhooksCommand,
  gatewayCommand,
  auditCommand,
  eventsCommand,
  configCommand,
]);

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
  const isJson = asksForJson(argv);
  let status: number = exitStatus.done;
  const context: CommandContext = {
    configured: () => backend.configure(flagsOf(program.opts())),
    output,
    reason: () => reasonIn(program.opts<{ reason?: string }>()),
    end: (wanted, signal) => {
      status = wanted;
      if (signal === "SIGINT") interrupted();
    },
  };
  program
    .description("Capture each payment exactly once, and run one job at a time.")
    .version(backend.version)
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      // With --json, what was wrong is told once, as an object, where the command line ends.
      writeErr: (text) => void (isJson || streams.stderr.write(text)),
      outputError: (text, write) => write(withoutPrefix(text).replace(/^(?=.)/gm, "holdfast: ")),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("holdfast: see holdfast --help")
    .exitOverride()
    .addOption(new Option("--config <file>", "configuration file (default: holdfast.toml, if it exists)"))
    .addOption(
      new Option("--lock-timeout <seconds|infinite>", "how long to wait for a lock; 0 makes one attempt"),
    )
    .addOption(
      new Option(
        "--json",
        "print results as JSON, and errors and remarks as one JSON object per line on stderr",
      ),
    )
    .addOption(new Option("--reason <text>", "why this is done, for the audit: see `holdfast audit`"))
    .addOption(
      new Option("--quiet", "keep remarks back; errors, warnings and new idempotency keys are still printed"),
    );
  for (const { flag, argument, describe, fallback } of backend.settingFlags) {
    const shown = fallback === null || argument === "" ? describe : `${describe} (default: ${fallback})`;
    program.addOption(new Option(argument === "" ? `--${flag}` : `--${flag} ${argument}`, shown));
  }
  for (const make of MAKES) {
    const command = adopted(make(context), program);
    if (!ASKS_SERVER.has(make)) command.hook("preAction", (_, action) => refuseServer(program, action));
    program.addCommand(command);
  }
  const leaveWarnings = warningsOnStderr((message) => output().warn(message));
  try {
    await program.parseAsync(argv, { from: "user" });
    // A warning of the last moment is told in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    return status;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitStatus.done;
      if (isJson) new Output(streams, { json: true, quiet: false }).failure(usageErrorOf(error));
      return exitStatus.usage;
    }
    const planned = statusOf(error);
    // What is refused while the command line is still being read knows no flags yet.
    const told = isJson ? new Output(streams, { json: true, quiet: false }) : output();
    if (planned === null) told.defect(error);
    else told.failure(error as Error);
    return planned ?? exitStatus.failed;
  } finally {
    leaveWarnings();
  }
}

function reasonIn({ reason = "" }: { reason?: string }): string | null {
  const words = reason.trim();
  if (words.length > MAX_REASON) throw new UsageError(`--reason has more than ${MAX_REASON} characters`);
  return words === "" ? null : words;
}

/** Whoever names a server expects the command to act there. In the environment and in a file it is for all commands. */
function refuseServer(program: Command, action: Command): void {
  const given = program.opts<Readonly<Record<string, unknown>>>();
  for (const [flag, name] of [
    ["--url", "url"],
    ["--api-key", "apiKey"],
  ] as const)
    if (given[name] !== undefined)
      throw new UsageError(
        `${flag} is for commands that ask a server, and holdfast ${pathOf(action)} asks none: leave it out`,
      );
}

/** `keys create` */
function pathOf(command: Command): string {
  const { parent } = command;
  const own = command.name();
  return parent === null || parent.parent === null ? own : `${pathOf(parent)} ${own}`;
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

/** Read before the command line is: an error in it has to be told in the right form, too. What follows `--` is not ours. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).includes("--json");
}

function withoutPrefix(message: string): string {
  return message.replace(/^error: /, "");
}

/** Where only a group of commands was named, the parser shows its help and has no words for it. */
function usageErrorOf({ code, message }: CommanderError): UsageError {
  return new UsageError(
    code === "commander.help" ? "name a command: --help lists them" : withoutPrefix(message),
  );
}
