import { createUser, fromPublic } from "@nats-io/nkeys";
import { describe, expect, it } from "vitest";
import { authenticatorOf, parseLogin } from "../../platform/jetstream/connection/authenticator.ts";
import { missingRights } from "../../platform/jetstream/connection/required-rights.ts";
import { tooSmall, type AccountInfo } from "../../platform/jetstream/streams/account-limits.ts";

describe("the text of a credentials file", () => {
  it("is the seed of an nkey, which signs the server's nonce", () => {
    const pair = createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    expect(parseLogin(`${seed}\n`)).toEqual({ kind: "nkey", seed });
    const login = authenticatorOf(() => seed)("nonce") as { readonly nkey: string; readonly sig: string }; // The form of an nkey's login.
    expect(login.nkey).toBe(pair.getPublicKey());
    const signature = Buffer.from(login.sig, "base64url");
    expect(fromPublic(login.nkey).verify(new TextEncoder().encode("nonce"), signature)).toBe(true);
  });

  it("is a user and a password, which may contain colons", () => {
    expect(parseLogin("headwater:a:b\n")).toEqual({ kind: "password", user: "headwater", password: "a:b" });
    expect(authenticatorOf(() => "headwater:a:b")("nonce")).toEqual({ user: "headwater", pass: "a:b" });
  });

  it("is nothing else", () => {
    for (const text of ["", "headwater", "two words:secret", "a:b\nc:d"]) expect(parseLogin(text)).toBeUndefined();
  });

  it("is read again for each connection", () => {
    let text = "one:first";
    const authenticate = authenticatorOf(() => text);
    expect(authenticate("1")).toEqual({ user: "one", pass: "first" });
    text = "other:second";
    expect(authenticate("2")).toEqual({ user: "other", pass: "second" });
  });
});

describe("missing rights", () => {
  const rights = { publish: ["runs.>", "$JS.API.INFO"], subscribe: ["answer.*.>"], responds: true };
  const none = { allow: [], deny: [] };
  const responses = { max: 1 };

  it("are none with all subjects, with patterns that cover them, and without a list", () => {
    expect(missingRights(rights, undefined)).toEqual([]);
    expect(missingRights(rights, { publish: none, subscribe: none, responses })).toEqual([]);
    const patterns = { publish: { allow: ["runs.>", "$JS.*.INFO"], deny: [] }, subscribe: { allow: ["*.>"], deny: [] }, responses };
    expect(missingRights(rights, patterns)).toEqual([]);
  });

  it("are those that no pattern covers, and those that one denies", () => {
    const publish = { allow: ["runs.*", "$JS.API.INFO"], deny: ["*.API.>"] };
    expect(missingRights(rights, { publish, subscribe: { allow: ["answer.a.>"], deny: [] } })).toEqual([
      "publish on runs.>",
      "publish on $JS.API.INFO",
      "subscribe to answer.*.>",
      "respond to requests (allow_responses)",
    ]);
  });
});

describe("limits of an account", () => {
  const limits = {
    max_storage: -1,
    max_streams: -1,
    max_consumers: -1,
    max_ack_pending: -1,
    storage_max_stream_bytes: -1,
    max_bytes_required: false,
  };
  const used: AccountInfo = { limits, storage: 0, reserved_storage: 0, streams: 0 };
  const needed = { replicas: 3, storeBytes: 1_000, exists: false };

  it("count each copy, and what others have reserved, but not what exists already", () => {
    const info = { ...used, limits: { ...limits, max_storage: 3_500 }, reserved_storage: 1_000 };
    expect(tooSmall(info, needed)).toEqual([expect.stringContaining("it allows 2500 of 3000 storage, with 3 replica(s)")]);
    expect(tooSmall(info, { ...needed, exists: true })).toEqual([]);
    expect(tooSmall(info, { ...needed, replicas: 1 })).toEqual([]);
  });

  it("are those of the tier with that number of replicas, which counts no copies", () => {
    const tier = { ...used, limits: { ...limits, max_storage: 1_000 } };
    expect(tooSmall({ ...used, tiers: { R3: tier } }, needed)).toEqual([]);
    expect(tooSmall({ ...used, tiers: { R1: tier } }, needed)).toEqual(["it has no limits for 3 replicas, only for R1"]);
  });

  it("are all named", () => {
    const low = { ...limits, max_streams: 3, max_consumers: 10, max_ack_pending: 1_000, storage_max_stream_bytes: 100 };
    expect(tooSmall({ ...used, limits: low }, needed)).toHaveLength(4);
  });
});
