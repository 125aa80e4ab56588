import type { EmailAuthentication } from "../../domain/invocation/email-authentication.ts";
import type { EmailContent } from "../../domain/invocation/email-event.ts";

/** Serves SMTP. The adapter speaks the protocol, and the handlers decide. */
export type StartEmailServer = (config: EmailConfig, handlers: EmailHandlers) => Promise<EmailServer>;

export interface EmailServer {
  /** host:port it listens on. */
  readonly address: string;
  /** Accepts no more connections and finishes messages in progress; when the signal aborts, closes them. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Each may throw an `EmailRefusal`, which answers the command. @param peer address of the client */
export interface EmailHandlers {
  /** A message begins. */
  sender(peer: string): void;
  recipient(address: string, peer: string): Promise<void>;
  /** Resolves when the message is stored for all its recipients. */
  message(mail: ArrivedEmail): Promise<void>;
  /** Room for bytes of a message that arrives; undefined: there is none now. */
  arriving(peer: string): ArrivingBytes;
}

export interface ArrivingBytes {
  take(bytes: number): boolean;
  release(): void;
}

export interface ArrivedEmail {
  /** The whole message. */
  readonly raw: Buffer;
  /** Of the SMTP conversation; "" of a bounce. */
  readonly from: string;
  readonly recipients: readonly string[];
  readonly peer: string;
  /** The name that the client gives itself by HELO. */
  readonly helo: string;
}

/** The content of a message. One is read at a time. @throws InvalidInput if it cannot be read */
export type ParseEmail = (raw: Buffer) => Promise<EmailContent>;

/**
 * Finds out whether the sender is genuine, within bounds of time and work that all messages share.
 * @param from the address that the event shows as `From`; "" without one
 */
export type AuthenticateEmail = (mail: ArrivedEmail, from: string) => Promise<EmailAuthentication>;

export interface EmailConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Domain of the addresses. */
  readonly domain: string;
  /** A larger message is refused when it is announced, or has arrived. */
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  readonly maxConnections: number;
  /** Of one client network. */
  readonly maxPeerConnections: number;
  /** Maximum time without a byte; of a message; of a connection. */
  readonly silenceTimeoutMs: number;
  readonly messageTimeoutMs: number;
  readonly connectionTimeoutMs: number;
}

export const emailDefaults = {
  maxRecipients: 50,
  maxConnections: 256,
  maxPeerConnections: 32,
  silenceTimeoutMs: 60_000,
  messageTimeoutMs: 120_000,
  connectionTimeoutMs: 600_000,
} as const;
