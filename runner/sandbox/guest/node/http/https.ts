import { EventEmitter } from "../events/events.ts";
import { unsupportedClass, unsupportedFunction } from "../errors.ts";
import { HttpsAgent } from "./http-agent.ts";
import { ClientRequest } from "./http-client-request.ts";
import { noServers } from "./http.ts";

const Server = unsupportedClass("https.Server", noServers, EventEmitter);

/** `node:https`: a client. */
const https = {
  Agent: HttpsAgent,
  Server,
  globalAgent: new HttpsAgent({ keepAlive: true }),
  createServer: unsupportedFunction("https", "createServer", noServers),
  request: (...args: unknown[]): ClientRequest => new ClientRequest("https:", https.globalAgent, args),
  get: (...args: unknown[]): ClientRequest => {
    const request = https.request(...args);
    request.end();
    return request;
  },
};

export default https;
