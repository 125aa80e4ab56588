import { describe, expect, it } from "vitest";
import { UnreadBytes } from "../../../api/streams/unread-bytes.ts";

describe("UnreadBytes", () => {
  function streamsOf(bytes: UnreadBytes) {
    const dropped: string[] = [];
    return { dropped, open: (user: string, name: string) => bytes.open(user, () => dropped.push(name)) };
  }

  it("drops the slowest stream of a user at the limit for one that holds nothing", () => {
    const bytes = new UnreadBytes({ perUser: 10, total: 100 });
    const { dropped, open } = streamsOf(bytes);
    const [slow, slower, reading] = [open("ada", "slow"), open("ada", "slower"), open("ada", "reading")];
    expect([slow.set(3), slower.set(6), reading.set(4), dropped, bytes.used]).toEqual([true, true, true, ["slower"], 7]);
    expect([reading.set(0), bytes.used]).toEqual([true, 3]);
  });

  it("refuses more for a stream that holds something itself", () => {
    const bytes = new UnreadBytes({ perUser: 10, total: 100 });
    const { dropped, open } = streamsOf(bytes);
    const [slow, other] = [open("ada", "slow"), open("ada", "other")];
    expect([slow.set(3), other.set(6), slow.set(5), bytes.used, dropped]).toEqual([true, true, false, 9, []]);
  });

  it("drops a stream of the user with the most for a user with less", () => {
    const bytes = new UnreadBytes({ perUser: 8, total: 10 });
    const { dropped, open } = streamsOf(bytes);
    const [first, second, bobs] = [open("ada", "first"), open("ada", "second"), open("bob", "bobs")];
    expect([first.set(4), second.set(4), bobs.set(3), dropped, bytes.used]).toEqual([true, true, true, ["first"], 7]);
    expect([first.set(0), bytes.used]).toEqual([true, 7]);
  });
});
