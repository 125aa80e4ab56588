/** The parts of smtp-server that the listener for email triggers and tests use. */
declare module "smtp-server" {
  import type { EventEmitter } from "node:events";
  import type { Server } from "node:net";
  import type { Readable } from "node:stream";

  type Done = (error?: Error | null) => void;

  export interface Session {
    readonly id: string;
    readonly user?: string;
    readonly remoteAddress: string;
    /** The name that the client gives itself, in lower case. */
    readonly hostNameAppearsAs: string;
    readonly envelope: {
      readonly mailFrom: { readonly address: string } | false;
      readonly rcptTo: readonly { readonly address: string }[];
    };
  }

  export interface ServerOptions {
    readonly secure?: boolean;
    readonly key?: string;
    readonly cert?: string;
    readonly authOptional: boolean;
    readonly disabledCommands?: readonly string[];
    readonly closeTimeout?: number;
    readonly size?: number;
    readonly maxRecipients?: number;
    readonly maxClients?: number;
    /** Milliseconds without a byte. */
    readonly socketTimeout?: number;
    /** Host name in answers. */
    readonly name?: string;
    readonly banner?: string;
    readonly disableReverseLookup?: boolean;
    readonly logger: false;
    onAuth?(
      auth: { readonly username?: string; readonly password?: string },
      session: Session,
      done: (error: Error | null, answer?: { readonly user: string }) => void,
    ): void;
    onConnect?(session: Session, done: Done): void;
    onClose?(session: Session): void;
    onMailFrom?(address: { readonly address: string }, session: Session, done: Done): void;
    onRcptTo(address: { readonly address: string }, session: Session, done: Done): void;
    onData(stream: Readable, session: Session, done: Done): void;
  }

  export class SMTPServer extends EventEmitter {
    constructor(options: ServerOptions);
    readonly connections: ReadonlySet<{ readonly session: Session; close(): void }>;
    readonly server: Server;
    listen(port: number, host: string, listening: () => void): Server;
    close(done: () => void): void;
    updateSecureContext(options: { readonly key: string; readonly cert: string }): void;
  }
}
