import { createServer } from "node:net";
import { encodeBson, type Document } from "./bson.ts";
import { listen, messages, type Listening } from "./listen.ts";

/** MongoDB, OP_MSG and the first OP_QUERY: `hello`, `insert`, and `find`, which gives the document that was inserted last. */
export async function startMongo(): Promise<Listening> {
  let inserted: Buffer | undefined;
  return await listen(
    createServer((socket) => {
      const lengthOf = (bytes: Buffer): number | undefined => (bytes.length < 4 ? undefined : bytes.readInt32LE(0));
      messages(socket, lengthOf, (message) => {
        const request = message.readInt32LE(4);
        if (message.readInt32LE(12) === 2004) return void socket.write(oldReply(request, encodeBson(hello)));
        const { command, documents } = readMessage(message);
        if (command === "insert") inserted = documents;
        const answer = command === "insert" ? { ok: 1, n: 1 } : command === "find" ? cursor(inserted) : hello;
        return void socket.write(reply(request, encodeBson(answer)));
      });
    }),
  );
}

const hello: Document = {
  ok: 1,
  helloOk: true,
  isWritablePrimary: true,
  ismaster: true,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
  localTime: new Date(0),
};

const cursor = (document: Buffer | undefined): Document => ({
  ok: 1,
  cursor: { firstBatch: document ? [document] : [], id: 0n, ns: "d.things" },
});

/** The name of the command is the first key of the first section; documents to insert are a section of their own, kind 1. */
function readMessage(message: Buffer): { command: string; documents: Buffer | undefined } {
  const sections = message.subarray(20);
  let at = 0;
  let command = "";
  let documents: Buffer | undefined;
  while (at < sections.length) {
    const size = sections.readInt32LE(at + 1);
    const section = sections.subarray(at + 1, at + 1 + size);
    if (sections[at] === 0) command = section.toString("utf8", 5, section.indexOf(0, 5));
    else documents = section.subarray(section.indexOf(0, 4) + 1);
    at += 1 + size;
  }
  return { command, documents };
}

function reply(to: number, document: Buffer): Buffer {
  return framed(to, 2013, Buffer.concat([Buffer.alloc(5), document]));
}

/** OP_REPLY: flags, cursor, start, count. */
function oldReply(to: number, document: Buffer): Buffer {
  const head = Buffer.alloc(20);
  head.writeInt32LE(1, 16);
  return framed(to, 1, Buffer.concat([head, document]));
}

function framed(to: number, operation: number, body: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeInt32LE(16 + body.length, 0);
  head.writeInt32LE(to, 8);
  head.writeInt32LE(operation, 12);
  return Buffer.concat([head, body]);
}
