import { createHash } from "node:crypto";
import { networkOf } from "../../domain/client-address.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import { emailKeyOf, type EmailEvent } from "../../domain/invocation/email-event.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { Budget } from "../../domain/limits/budget.ts";
import { EmailRefusal } from "../../domain/mail/email-refusal.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { ownerOf } from "../await-answer.ts";
import type { Packs } from "../packs.ts";
import type { IngressPorts } from "../ports.ts";
import type { ArrivedEmail, EmailConfig, EmailHandlers, ParseEmail } from "./ports.ts";
import { Rates } from "./rates.ts";

export interface EmailReceiving {
  readonly config: Pick<EmailConfig, "domain">;
  /** Maximum bytes of the event of a run, as JSON: the same as of a request's body. */
  readonly eventLimitBytes: number;
  readonly ports: Pick<IngressPorts, "endpoints" | "admission" | "log">;
  readonly packs: Pick<Packs, "add">;
  readonly parse: ParseEmail;
  /** Ms of a clock that never goes back. */
  readonly now: () => number;
}

/** Messages to one address: one a second, and sixty at once. */
const addressRate = { perSecond: 1, burst: 60 };
/** Messages of one client network, and its wrong recipients: five a second, and 120 at once. */
const peerRate = { perSecond: 5, burst: 120 };
/** Bytes of all messages that arrive; a client network may have half of them. */
const maxArrivingBytes = 64 * 2 ** 20;

const tooFast = (what: string): EmailRefusal => new EmailRefusal(421, `4.7.0 too many messages ${what}: try again later`);
const notNow = (): EmailRefusal => new EmailRefusal(451, "4.3.0 the message cannot be stored now: try again later");
const unknown = (): EmailRefusal => new EmailRefusal(550, "5.1.1 there is no such address");

/**
 * Decides about messages to the addresses of workflows. A message is answered 250 once an invocation is stored for each of its recipients.
 *
 *     MAIL ─▶ rate of the client ─▶ RCPT ─▶ address, rate, backlog ─▶ DATA ─▶ size, parse ─▶ Packs ─▶ NATS ─▶ 250
 */
export function emailHandlers(receiving: EmailReceiving): EmailHandlers {
  const { config, ports, now } = receiving;
  const [ofAddress, ofPeer] = [new Rates(addressRate), new Rates(peerRate)];
  const arriving = new Budget({ total: maxArrivingBytes, share: maxArrivingBytes / 2 });
  return {
    sender: (peer) => {
      if (!ofPeer.take(networkOf(peer), now())) throw tooFast("from this client");
    },
    recipient: async (address, peer) => {
      const endpoint = await find(address, receiving);
      if (endpoint === undefined) {
        // An address cannot be guessed, but each attempt costs a lookup.
        if (!ofPeer.take(networkOf(peer), now())) throw tooFast("from this client");
        throw unknown();
      }
      if (!endpoint.active) throw new EmailRefusal(450, "4.2.1 the workflow of this address is switched off: try again later");
      if (!ofAddress.take(emailKeyOf(address, config.domain) ?? "", now()))
        throw new EmailRefusal(452, "4.2.2 too many messages to this address: try again later");
      if (ports.admission.isFull({ ...endpoint, owner: ownerOf(endpoint) }, performance.now())) throw backlogFull();
    },
    message: (mail) => store(mail, receiving),
    arriving: (peer) => arriving.open(networkOf(peer)),
  };
}

const backlogFull = (): EmailRefusal => new EmailRefusal(452, "4.3.1 too many messages wait to be run: try again later");

async function find(address: string, { config, ports: { endpoints, log } }: EmailReceiving): Promise<Endpoint | undefined> {
  const key = emailKeyOf(address, config.domain);
  if (key === undefined) return undefined;
  const known = endpoints.peek(key);
  try {
    const endpoint = known === undefined ? await endpoints.find(key) : known;
    return endpoint?.workflow?.hasEmailTrigger === true ? endpoint : undefined;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log.warn({ op: "email.receive", err: error }, "a recipient cannot be looked up now");
    throw notNow();
  }
}

/** Stores an invocation for each recipient, or none is acknowledged: a client that repeats the message repeats the same runs. */
async function store(mail: ArrivedEmail, receiving: EmailReceiving): Promise<void> {
  const parsed = await parse(mail, receiving);
  const stored = await Promise.allSettled(
    [...new Set(mail.recipients.map((address) => address.toLowerCase()))].map((to) => storeFor(to, mail, parsed, receiving)),
  );
  const failed = stored.find((each) => each.status === "rejected");
  if (failed === undefined) return;
  const { reason } = failed;
  if (reason instanceof EmailRefusal) throw reason;
  receiving.ports.log.warn({ op: "email.receive", err: reason }, "a message could not be stored");
  throw notNow();
}

async function parse(mail: ArrivedEmail, { parse: read }: EmailReceiving): Promise<Omit<EmailEvent, "envelope" | "client_ip">> {
  try {
    return await read(mail.raw);
  } catch (error) {
    if (error instanceof InvalidInput) throw new EmailRefusal(554, `5.6.0 the message cannot be read: ${error.message}`);
    throw error;
  }
}

async function storeFor(
  to: string,
  { raw, from, peer }: ArrivedEmail,
  parsed: Omit<EmailEvent, "envelope" | "client_ip">,
  receiving: EmailReceiving,
): Promise<void> {
  const { ports, packs, eventLimitBytes } = receiving;
  const endpoint = await find(to, receiving);
  if (endpoint === undefined) throw unknown(); // Deleted since RCPT.
  const event: EmailEvent = { ...parsed, envelope: { from, to }, client_ip: peer };
  const bytes = Buffer.byteLength(JSON.stringify(event));
  if (bytes > eventLimitBytes)
    throw new EmailRefusal(552, `5.3.4 the message with its attachments is ${bytes} bytes as JSON: it may be ${eventLimitBytes}`);
  const { pool, source } = endpoint;
  const delivery = parsed.message_id === null ? {} : { delivery: deliveryOf(source, raw) };
  const text = JSON.stringify({ source, trigger: "email", at: Date.now(), event, ...delivery } satisfies Invocation);
  if (!ports.admission.admits({ pool, source, owner: ownerOf(endpoint) }, text.length, performance.now())) throw backlogFull();
  await packs.add(pool, partitionOf(source), source, text);
}

/**
 * A client that got no answer sends the same bytes again, with the same `Message-ID`. The id of its run follows from this id, so it runs
 * once as long as the first run, or the marker behind its end, is stored.
 */
const deliveryOf = (workflow: string, raw: Buffer): string =>
  `m${createHash("sha256").update(workflow).update("\0").update(raw).digest("base64url").slice(0, 22)}`;
