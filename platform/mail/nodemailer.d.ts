/** The calls of nodemailer that the adapter makes. */
declare module "nodemailer/lib/smtp-connection" {
  import type { EventEmitter } from "node:events";
  import type { Readable } from "node:stream";
  import type { SecureContext } from "node:tls";

  export interface SmtpError extends Error {
    readonly code?: string;
    /** The SMTP command that was answered with an error; `CONN` when the connection was lost. */
    readonly command?: string;
    readonly responseCode?: number;
    /** Set together with `responseCode`: whether the same mail would be refused again. */
    readonly permanent?: boolean;
  }

  export interface SmtpOptions {
    readonly host: string;
    readonly port: number;
    /** TLS from the start; otherwise STARTTLS if the server offers it. */
    readonly secure: boolean;
    /** Fails if the server does not offer STARTTLS. */
    readonly requireTLS: boolean;
    /** Options of `tls.connect`. */
    readonly tls: { readonly secureContext?: SecureContext };
    readonly connectionTimeout: number;
    readonly greetingTimeout: number;
    readonly socketTimeout: number;
    readonly dnsTimeout: number;
  }

  export default class SMTPConnection extends EventEmitter {
    constructor(options: SmtpOptions);
    readonly destroyed: boolean;
    readonly allowsAuth: boolean;
    connect(done: (error?: SmtpError) => void): void;
    login(auth: { readonly user: string; readonly pass: string }, done: (error: SmtpError | null) => void): void;
    send(
      envelope: { readonly from: string; readonly to: readonly string[] },
      message: Readable,
      done: (error: SmtpError | null) => void,
    ): void;
    reset(done: (error: SmtpError | null) => void): void;
    quit(): void;
    close(): void;
  }
}

declare module "nodemailer/lib/mail-composer" {
  export interface ComposedMail {
    readonly from: Mailbox;
    readonly to: Mailbox;
    readonly subject: string;
    readonly text: string;
    readonly html?: string;
    readonly messageId: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly disableFileAccess: true;
    readonly disableUrlAccess: true;
  }

  export interface Mailbox {
    readonly name: string;
    readonly address: string;
  }

  export default class MailComposer {
    constructor(mail: ComposedMail);
    compile(): { build(): Promise<Buffer> };
  }
}
