import { post } from "../../runtime/bridge.ts";
import { nodeError, unsupported, unsupportedClass, unsupportedFunction } from "../errors.ts";
import { EventEmitter } from "../events/events.ts";
import { parseConnectArguments, Socket } from "./net.ts";
import type { ConnectOptions } from "./net.ts";
import { nextTick } from "../timers/next-tick.ts";
import { pickTls } from "./tls-options.ts";

interface TlsState {
  readonly authorized: boolean;
  readonly authorizationError: string | null;
  readonly protocol: string | null;
  readonly cipher: object;
  readonly alpn: string | false;
  readonly servername: string | false;
}

/** A TLS connection of the host; the host checks the certificate unless `rejectUnauthorized` is false. */
export class TLSSocket extends Socket {
  readonly encrypted = true;
  authorized = false;
  authorizationError: string | null = null;
  alpnProtocol: string | false = false;
  servername: string | false = false;
  #state: TlsState | undefined;
  /** Some packages read this class when they load. */
  declare readonly _handle?: object;

  constructor(stream?: unknown) {
    super();
    if (typeof stream === "object" && stream !== null && !(stream instanceof Socket))
      Object.defineProperty(this, "_handle", { value: { _parentWrap: stream } });
  }

  /** Opens a connection, or takes over the one of `options.socket` as soon as that is established. */
  begin(options: ConnectOptions): this {
    const settings = pickTls({ ...(options["secureContext"] as { context?: object } | undefined)?.context, ...options }) ?? {};
    const { socket } = options;
    if (socket === undefined || socket === null) {
      if (options.path !== undefined && options.path !== null) throw unsupported("a connection to a local socket", "use a host and a port");
      this.open(options.host ?? "localhost", Number(options.port), settings);
      return this;
    }
    if (!(socket instanceof Socket))
      throw nodeError(
        "ERR_SANDBOX_UNSUPPORTED",
        "tls.connect over a stream that is no net.Socket is not available to components: give it a net.Socket",
      );
    const upgrade = (): void => {
      this.adopt(socket);
      post("socket_tls", this.id, settings);
    };
    // Listeners on the plain socket, such as database clients, wait for its close.
    this.once("close", () => socket.destroy());
    socket.once("close", () => this.destroy());
    if (socket.connecting) socket.once("connect", upgrade);
    else upgrade();
    return this;
  }

  getCipher(): object {
    return this.#state?.cipher ?? {};
  }
  getProtocol(): string | null {
    return this.#state?.protocol ?? null;
  }
  getPeerCertificate(): object {
    return {};
  }
  getCertificate(): object {
    return {};
  }
  getSession(): undefined {}
  getTLSTicket(): undefined {}
  getFinished(): undefined {}
  getPeerFinished(): undefined {}
  isSessionReused(): boolean {
    return false;
  }
  setMaxSendFragment(): boolean {
    return true;
  }
  setServername(): void {}
  disableRenegotiation(): void {}
  enableTrace(): void {}

  /** TCP is connected; data waits for the TLS handshake. */
  protected override onPeer(peer: { readonly address?: string; readonly port?: number; readonly family?: string }): void {
    this.remoteAddress = peer.address;
    this.remotePort = peer.port;
    this.remoteFamily = peer.family;
    this.emit("connect");
  }

  protected override onSecure(state: unknown): void {
    const given = state as TlsState; // made by the host's `socket`
    this.#state = given;
    this.authorized = given.authorized;
    this.authorizationError = given.authorizationError;
    this.alpnProtocol = given.alpn;
    this.servername = given.servername;
    this.established();
    this.emit("secure");
    this.emit("secureConnect");
    this.emit("ready");
  }
}

function connect(...args: unknown[]): TLSSocket {
  const { options, listener } = parseConnectArguments(args);
  const socket = new TLSSocket();
  if (listener !== undefined) socket.once("secureConnect", listener);
  if (typeof options.timeout === "number") socket.setTimeout(options.timeout);
  try {
    return socket.begin(options);
  } catch (error) {
    nextTick(() => socket.destroy(error as Error));
    return socket;
  }
}

class SecureContext {
  readonly context: object;
  constructor(options: object = {}) {
    this.context = options;
  }
}

const noServers = "a component cannot listen; give it an HTTP trigger ($.interface.http)";
const Server = unsupportedClass("tls.Server", noServers, EventEmitter);

/** `node:tls`: a client. */
export default {
  TLSSocket,
  SecureContext,
  Server,
  connect,
  createSecureContext: (options?: object): SecureContext => new SecureContext(options),
  createServer: unsupportedFunction("tls", "createServer", noServers),
  // The host compares names and certificates; packages only pass it on.
  checkServerIdentity: (): undefined => undefined,
  getCiphers: (): string[] => ["tls_aes_128_gcm_sha256", "tls_aes_256_gcm_sha384", "tls_chacha20_poly1305_sha256"],
  getCACertificates: (): string[] => [],
  rootCertificates: Object.freeze([]),
  DEFAULT_CIPHERS: "",
  DEFAULT_ECDH_CURVE: "auto",
  DEFAULT_MIN_VERSION: "TLSv1.2",
  DEFAULT_MAX_VERSION: "TLSv1.3",
};
