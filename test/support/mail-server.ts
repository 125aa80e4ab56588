import { text as textOf } from "node:stream/consumers";
import { SMTPServer, type Session } from "smtp-server";
import { privateKey } from "./certificates.ts";
import { steadyPort } from "./steady-port.ts";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The whole message. */
  readonly raw: string;
  /** Headers by lower-case name; the last of each. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly html: string;
}

/** A step of the conversation that the test decides. Throw {@link refusal} to refuse. */
export interface MailServerHooks {
  recipient?: (address: string) => void | Promise<void>;
  sender?: (address: string) => void;
  /** The message has been received, and is not answered yet. */
  received?: (mail: ReceivedMail) => void | Promise<void>;
}

/** An answer with a code, such as 450 or 550. */
export const refusal = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });

export interface MailServer {
  readonly port: number;
  /** Accepted mails, in order. */
  readonly mails: readonly ReceivedMail[];
  readonly hooks: MailServerHooks;
  /** Connections since the start. */
  readonly connections: number;
  /** Resets all connections. */
  cut(): void;
  stop(): Promise<void>;
  /** On the same port, with the mails so far. */
  start(): Promise<void>;
}

export interface MailServerOptions {
  /** With it, a login is required. */
  readonly login?: { readonly user: string; readonly password: string };
  readonly secure?: boolean;
  readonly certificate?: string;
  /** Default: the private key of certificates.ts. */
  readonly key?: string;
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const state = { mails: [] as ReceivedMail[], hooks: {} as MailServerHooks, connections: 0 };
  const port = await steadyPort();
  let server: SMTPServer | undefined;
  const start = async (): Promise<void> => {
    const opened = createServer(options, state);
    server = opened;
    // A client that is killed resets its connection.
    opened.on("error", () => undefined);
    await new Promise<void>((resolve) => opened.listen(port, "127.0.0.1", resolve));
  };
  await start();
  return {
    port,
    mails: state.mails,
    hooks: state.hooks,
    get connections() {
      return state.connections;
    },
    cut: () => server?.connections.forEach((connection) => connection.close()),
    stop: async () => {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      const closed = new Promise<void>((resolve) => closing.close(resolve));
      closing.connections.forEach((connection) => connection.close());
      await closed;
    },
    start,
  };
}

interface State {
  readonly mails: ReceivedMail[];
  readonly hooks: MailServerHooks;
  connections: number;
}

function createServer({ login, secure = false, certificate, key = privateKey }: MailServerOptions, state: State): SMTPServer {
  const after = (act: () => void | Promise<void>, done: (error?: Error | null) => void): void =>
    void Promise.resolve()
      .then(act)
      .then(() => done(), done); // Errors are answers.
  return new SMTPServer({
    secure,
    ...(certificate === undefined ? {} : { cert: certificate, key }),
    authOptional: login === undefined,
    disabledCommands: [...(certificate === undefined ? ["STARTTLS"] : []), ...(login === undefined ? ["AUTH"] : [])],
    closeTimeout: 100,
    logger: false,
    onAuth: ({ username, password }, _session, done) => {
      if (username === login?.user && password === login?.password) done(null, { user: username ?? "" });
      else done(refusal(535, "5.7.8 the user name or the password is wrong"));
    },
    onConnect: (_session, done) => {
      state.connections += 1;
      done();
    },
    onMailFrom: ({ address }, _session, done) => after(() => state.hooks.sender?.(address), done),
    onRcptTo: ({ address }, _session, done) => after(() => state.hooks.recipient?.(address), done),
    onData: (stream, session, done) =>
      after(async () => {
        const mail = receivedMail(await textOf(stream), session);
        await state.hooks.received?.(mail);
        state.mails.push(mail);
      }, done),
  });
}

function receivedMail(raw: string, { envelope }: Session): ReceivedMail {
  const { headers, body } = partOf(raw);
  const boundary = /boundary="?([^";]+)"?/u.exec(headers["content-type"] ?? "")?.[1];
  const parts =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => partOf(part.trimStart()));
  const ofType = (type: string): string => {
    const part = parts.find(({ headers }) => headers["content-type"]?.startsWith(type) === true);
    return part === undefined ? "" : decoded(part.body, part.headers["content-transfer-encoding"]);
  };
  return {
    from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    raw,
    headers,
    text: ofType("text/plain"),
    html: ofType("text/html"),
  };
}

function partOf(text: string): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const lines = head.replace(/\r\n[ \t]+/gu, " ").split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { headers: Object.fromEntries(headers), body: rest.join("\r\n\r\n") };
}

function decoded(body: string, encoding = "7bit"): string {
  const text = body.replace(/\r\n$/u, "");
  if (encoding === "base64") return Buffer.from(text, "base64").toString("utf8").replaceAll("\r\n", "\n");
  if (encoding !== "quoted-printable") return text.replaceAll("\r\n", "\n");
  const joined = text.replaceAll("=\r\n", "").replaceAll("\r\n", "\n");
  return Buffer.from(
    joined.replace(/=([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
}
