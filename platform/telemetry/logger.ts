import { pino, type Logger } from "pino";

export type { Logger } from "pino";

export interface LoggerOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  /** Default: standard output, formatted when it is a terminal. */
  readonly destination?: NodeJS.WritableStream;
  /** Fields of every line, such as the role. */
  readonly base?: Readonly<Record<string, unknown>>;
}

/**
 * Fields that are redacted at any of three levels. Props, payloads and keys are not logged in the first place; this catches mistakes.
 */
const secretFields = [
  "password",
  "pass",
  "token",
  "secret",
  "authorization",
  "cookie",
  "apiKey",
  "api_key",
  "databaseUrl",
  "natsUrl",
  "configured_props",
  "configuredProps",
  "props",
];
const redact = {
  paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
  censor: "[redacted]",
};

/** Loaded only for a terminal. */
const pretty = process.stdout.isTTY ? (await import("pino-pretty")).default : undefined;

/** JSON lines; formatted text on a terminal. No pino transports: they are worker threads, which children of a runner must not have. */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level,
    base: options.base ?? {},
    redact,
    messageKey: "message",
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (options.destination !== undefined) return pino(settings, options.destination);
  if (pretty === undefined) return pino(settings, pino.destination({ fd: 1, sync: true }));
  return pino(
    settings,
    pretty({
      colorize: true,
      messageKey: "message",
      translateTime: "HH:MM:ss",
      ignore: "pid,hostname",
      singleLine: true,
      sync: true,
    }),
  );
}
