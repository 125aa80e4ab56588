import { EventEmitter } from "../events/events.ts";
import { unsupportedClass, unsupportedFunction } from "../errors.ts";
import { Agent } from "./http-agent.ts";
import { ClientRequest } from "./http-client-request.ts";
import { maxHeaderSize, METHODS, STATUS_CODES } from "./http-constants.ts";
import { guest } from "../globals.ts";
import { IncomingMessage } from "./http-incoming.ts";
import { OutgoingMessage, validateHeaderName, validateHeaderValue } from "./http-outgoing.ts";

export const noServers = "a component cannot listen; give it an HTTP trigger ($.interface.http)";

/** Packages extend and compare these; only making one fails. */
export class ServerResponse extends OutgoingMessage {}
export const Server = unsupportedClass("http.Server", noServers, EventEmitter);

class HttpClientRequest extends ClientRequest {
  constructor(...args: unknown[]) {
    super("http:", http.globalAgent, args);
  }
}

/** `node:http`: a client. */
const http = {
  Agent,
  ClientRequest: HttpClientRequest,
  IncomingMessage,
  METHODS,
  OutgoingMessage,
  STATUS_CODES,
  Server,
  ServerResponse,
  globalAgent: new Agent({ keepAlive: true }),
  maxHeaderSize,
  validateHeaderName,
  validateHeaderValue,
  setMaxIdleHTTPParsers: (): void => {},
  get WebSocket(): unknown {
    return guest["WebSocket"];
  },
  get CloseEvent(): unknown {
    return guest["CloseEvent"];
  },
  get MessageEvent(): unknown {
    return guest["MessageEvent"];
  },
  createServer: unsupportedFunction("http", "createServer", noServers),
  request: (...args: unknown[]): ClientRequest => new HttpClientRequest(...args),
  get: (...args: unknown[]): ClientRequest => {
    const request = new HttpClientRequest(...args);
    request.end();
    return request;
  },
};

export default http;
