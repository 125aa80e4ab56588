import dns from "dns2";
import { steadyPort } from "./steady-port.ts";

/** By type and name, such as `TXT example.com`: values; `fails` answers SERVFAIL, and `silent` does not answer. Others do not exist. */
export type DnsRecords = Record<string, readonly string[] | "fails" | "silent">;

export interface DnsServer {
  /** With the port. */
  readonly address: string;
  records: DnsRecords;
  /** Questions, in order, such as `TXT example.com`. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** Serves DNS on loopback, by UDP, and by TCP for large answers. `MX` values are hosts. */
export async function startDnsServer(): Promise<DnsServer> {
  const port = await steadyPort();
  const [asked, state] = [[] as string[], { records: {} as DnsRecords }];
  const server = dns.createServer({
    udp: true,
    tcp: true,
    handle: (request, send) => {
      const [question] = request.questions;
      const name = question?.name ?? "";
      const type = dns.Packet.typeName(question?.type ?? 0);
      asked.push(`${type} ${name}`);
      const values = state.records[`${type} ${name.toLowerCase()}`];
      if (values === "silent") return;
      const response = dns.Packet.createResponseFromRequest(request);
      if (values === "fails") response.header.rcode = dns.Packet.RCODE.SERVFAIL;
      else if (values === undefined) response.header.rcode = dns.Packet.RCODE.NXDOMAIN;
      else response.answers = values.map((value) => answerOf(name, type, value));
      void send(response).catch(() => undefined);
    },
  });
  await server.listen({ udp: { port, address: "127.0.0.1" }, tcp: { port, address: "127.0.0.1" } });
  return {
    address: `127.0.0.1:${port}`,
    asked,
    get records() {
      return state.records;
    },
    set records(records) {
      state.records = records;
    },
    stop: () => server.close(),
  };
}

function answerOf(name: string, type: string, value: string): dns.Packet.Resource {
  const data: Partial<dns.Packet.Resource> =
    type === "TXT"
      ? { data: value.match(/.{1,255}/gs) ?? [""] }
      : type === "MX"
        ? { exchange: value, priority: 10 }
        : type === "PTR"
          ? { domain: value }
          : { address: value };
  const question = { name, type: dns.Packet.TYPE[type as "TXT"], class: dns.Packet.CLASS.IN };
  return dns.Packet.createResourceFromQuestion(question as dns.Packet.Question, { ttl: 0, ...data });
}
