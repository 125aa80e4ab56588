import { describe, expect, it } from "vitest";
import type { Answer, BodyAnswer } from "../../../domain/invocation/invocation.ts";
import type { TakePiece } from "../../../domain/run-products.ts";
import { Caller } from "../../../runner/run/caller.ts";

/** @param take whether each piece is taken */
function callerOf(take: () => boolean | Promise<boolean> = () => true, now = () => 0) {
  const sent: (Answer | BodyAnswer)[] = [];
  let streams = 0;
  const caller = new Caller("answer.t.r_1", 100, {
    clock: { now },
    answer: (_subject, answer) => void sent.push(answer),
    sendPiece: async (_subject, piece) => {
      sent.push(piece);
      return await take();
    },
    randomId: () => `s${++streams}`,
  });
  return { caller, sent };
}

const head = { status: 200, headers: {}, body: "" };
const streamed = { ...head, isStreamed: true };
const piece = (index: number, isLast = false) => ({ index, base64: "YQ==", isLast });
const begin = (caller: Caller): TakePiece => caller.onResponse(streamed) ?? expect.unreachable("nothing takes the body");
const cut = (stream: string, index: number) => ({ kind: "body", stream, index, base64: "", end: "cut" });

describe("the caller of an execution", () => {
  it("gets a response at once, and each of a repeated execution, of which the first counts", () => {
    const { caller, sent } = callerOf();
    expect([caller.onResponse(head), caller.onResponse(head)]).toEqual([undefined, undefined]);
    caller.end();
    expect(sent).toEqual([
      { kind: "response", response: head },
      { kind: "response", response: head },
    ]);
  });

  it("gets a streamed body piece by piece, and its end", async () => {
    const { caller, sent } = callerOf();
    const take = begin(caller);
    expect([await take(piece(0)), await take(piece(1, true))]).toEqual([true, true]);
    expect(await take(piece(2))).toBe(false);
    caller.end();
    const body = { kind: "body", stream: "s1", base64: "YQ==" };
    expect(sent).toEqual([
      { kind: "response", response: streamed, stream: "s1" },
      { ...body, index: 0 },
      { ...body, index: 1, end: "whole" },
    ]);
  });

  it("hears that the rest is missing when the execution has ended before its body", async () => {
    const { caller, sent } = callerOf();
    const take = begin(caller);
    await take(piece(0));
    caller.end();
    caller.end();
    expect(sent.slice(2)).toEqual([cut("s1", 1)]);
    expect(await take(piece(1))).toBe(false);
  });

  it("gets no second body of an execution that was repeated: the first is cut", async () => {
    const { caller, sent } = callerOf();
    const take = begin(caller);
    await take(piece(0));
    expect(caller.onResponse(streamed)).toBeUndefined();
    expect(sent.slice(2)).toEqual([cut("s1", 1)]);
    expect(await take(piece(1))).toBe(false);
  });

  it("gets nothing behind a piece that is missing, comes twice, or comes before the one before it was taken", async () => {
    for (const index of [1, 7]) {
      const { caller, sent } = callerOf();
      expect(await begin(caller)(piece(index))).toBe(false);
      expect(sent.slice(1)).toEqual([cut("s1", 0)]);
    }
    const taken = Promise.withResolvers<boolean>();
    const { caller, sent } = callerOf(() => taken.promise);
    const take = begin(caller);
    const first = take(piece(0));
    expect(await take(piece(1))).toBe(false);
    taken.resolve(true);
    await first;
    expect(sent.slice(2)).toEqual([cut("s1", 1)]);
  });

  it("may take half of the time of the execution, in all", async () => {
    const limits: number[] = [];
    let now = 0;
    const sent: (Answer | BodyAnswer)[] = [];
    const caller = new Caller("answer.t.r_1", 100, {
      answer: (_subject, answer) => void sent.push(answer),
      sendPiece: async (_subject, _piece, timeoutMs) => {
        limits.push(timeoutMs);
        now += 30;
        return timeoutMs >= 30;
      },
      randomId: () => "s1",
      clock: { now: () => now },
    });
    const take = begin(caller);
    expect([await take(piece(0)), await take(piece(1)), await take(piece(2))]).toEqual([true, false, false]);
    expect(limits).toEqual([50, 20]);
    expect(sent.slice(1)).toEqual([cut("s1", 2)]);
  });

  it("gets at most 512 MiB, whatever its process sends", async () => {
    const { caller, sent } = callerOf();
    const take = begin(caller);
    const large = Buffer.alloc(64 * 2 ** 20).toString("base64");
    const taken: boolean[] = [];
    for (let index = 0; index < 9; index++) taken.push(await take({ index, base64: large, isLast: false }));
    expect(taken).toEqual([...Array.from({ length: 8 }, () => true), false]);
    expect(sent.at(-1)).toEqual(cut("s1", 8));
  });

  it("gets no more once it has left", async () => {
    const { caller, sent } = callerOf(() => false);
    const take = begin(caller);
    expect([await take(piece(0)), await take(piece(1))]).toEqual([false, false]);
    caller.end();
    // The reply may have been lost on its way.
    expect(sent.slice(2)).toEqual([cut("s1", 1)]);
  });
});
