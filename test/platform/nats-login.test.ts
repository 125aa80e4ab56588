import { fmtCreds } from "@nats-io/jwt";
import { createUser, fromPublic, fromSeed } from "@nats-io/nkeys";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { authenticatorOf, parseLogin } from "../../platform/jetstream/connection/authenticator.ts";
import { keyPairOf, userKeyPair } from "../../platform/jetstream/connection/key-pair.ts";
import { tooSmall, type AccountInfo } from "../../platform/jetstream/streams/account-limits.ts";

describe("the text of a credentials file", () => {
  it("is the seed of an nkey, which signs the server's nonce", () => {
    const pair = createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    expect(parseLogin(`${seed}\n`)).toEqual({ kind: "nkey", seed });
    const login = authenticatorOf(seed, () => seed)("nonce") as { readonly nkey: string; readonly sig: string }; // The form of an nkey's login.
    expect(login.nkey).toBe(pair.getPublicKey());
    const signature = Buffer.from(login.sig, "base64url");
    expect(fromPublic(login.nkey).verify(new TextEncoder().encode("nonce"), signature)).toBe(true);
  });

  it("is a user and a password, which may contain colons", () => {
    expect(parseLogin("headwater:a:b\n")).toEqual({ kind: "password", user: "headwater", password: "a:b" });
    expect(authenticatorOf("", () => "headwater:a:b")("nonce")).toEqual({ user: "headwater", pass: "a:b" });
  });

  it("is nothing else", () => {
    for (const text of ["", "headwater", "two words:secret", "a:b\nc:d"]) expect(parseLogin(text)).toBeUndefined();
  });

  it("is read again for each connection", () => {
    let text = "one:first";
    const authenticate = authenticatorOf(text, () => text);
    expect(authenticate("1")).toEqual({ user: "one", pass: "first" });
    text = "other:second";
    expect(authenticate("2")).toEqual({ user: "other", pass: "second" });
  });

  it("is the last complete one while the file is empty, half-written or unreadable", async () => {
    const [first, second] = [createUser(), createUser()];
    const [former, latter] = [fmtCreds("first-token", first), fmtCreds("second-token", second)].map((creds) =>
      Buffer.from(creds).toString(),
    );
    let read = (): string => former ?? "";
    const authenticate = authenticatorOf("", () => read());
    expect(authenticate("1")).toMatchObject({ jwt: "first-token", nkey: first.getPublicKey() });
    const seed = Buffer.from(second.getSeed()).toString();
    const damagedSeed = seed.replace(/.{8}$/, (end) => (end === "AAAAAAAA" ? "BBBBBBBB" : "AAAAAAAA")); // Its checksum does not match.
    const incomplete = ["", latter?.slice(0, latter.indexOf("SU")) ?? "", latter?.slice(0, -90) ?? "", seed.slice(0, -1), damagedSeed];
    for (const text of incomplete) {
      read = () => text;
      expect(authenticate("2")).toMatchObject({ jwt: "first-token", nkey: first.getPublicKey() });
    }
    read = () => {
      throw new Error("ENOENT");
    };
    expect(authenticate("3")).toMatchObject({ jwt: "first-token" });
    read = () => latter ?? "";
    expect(authenticate("4")).toMatchObject({ jwt: "second-token", nkey: second.getPublicKey() });
  });
});

describe("a key pair", () => {
  const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });

  it("has the same keys and signatures as the library's", () => {
    const kinds = fc.constantFrom("operator", "account", "user" as const);
    fc.assert(
      fc.property(kinds, bytes(32), bytes(11), (kind, seed, input) => {
        const pair = keyPairOf(kind, seed);
        const expected = fromSeed(pair.getSeed());
        expect(pair.getPublicKey()).toBe(expected.getPublicKey());
        expect(Buffer.from(pair.getPrivateKey())).toEqual(Buffer.from(expected.getPrivateKey()));
        expect(Buffer.from(pair.sign(input))).toEqual(Buffer.from(expected.sign(input)));
        expect(fromPublic(pair.getPublicKey()).verify(input, pair.sign(input))).toBe(true);
        if (kind === "user") expect(userKeyPair(Buffer.from(pair.getSeed()).toString()).getPublicKey()).toBe(expected.getPublicKey());
      }),
      { numRuns: 20 },
    );
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
  const needed = { replicas: 3, storeBytes: 1_000 };

  it("count each copy, and what others have stored or reserved", () => {
    const info = { ...used, limits: { ...limits, max_storage: 3_500 }, reserved_storage: 1_000 };
    const message =
      "its storage limit leaves 2500 bytes, and the streams need 3000 with 3 replicas: raise the limit, or lower HEADWATER_STORE_SIZE (chart: nats.storeSize)";
    expect(tooSmall(info, [], needed)).toEqual([message]);
    expect(tooSmall({ ...info, storage: 1_000, reserved_storage: 0 }, [], needed)).toEqual([message]);
    expect(tooSmall(info, [], { ...needed, replicas: 1 })).toEqual([]);
  });

  it("do not count the streams that setup has created before", () => {
    const own = [
      { replicas: 3, bytes: 200, maxBytes: 500 },
      { replicas: 3, bytes: 100, maxBytes: -1 },
    ];
    const info = { ...used, limits: { ...limits, max_storage: 3_500, max_streams: 20 }, streams: 4, storage: 1_400, reserved_storage: 900 };
    expect(tooSmall(info, own, needed)).toEqual([]);
    expect(tooSmall({ ...info, streams: 9 }, own, needed)).toEqual(["its limit of streams leaves 13, and Headwater needs 15"]);
    expect(tooSmall({ ...info, storage: 1_500 }, own, needed)).toEqual([expect.stringContaining("its storage limit leaves 2900 bytes")]);
    expect(tooSmall({ ...info, reserved_storage: 1_200 }, own, needed)).toEqual([expect.stringContaining("leaves 2800 bytes")]);
  });

  it("are those of the tier with that number of replicas, which counts no copies", () => {
    const tier = { ...used, limits: { ...limits, max_storage: 1_000 } };
    expect(tooSmall({ ...used, tiers: { R3: tier } }, [], needed)).toEqual([]);
    expect(tooSmall({ ...used, tiers: { R1: tier } }, [], needed)).toEqual(["it has no limits for 3 replicas, only for R1"]);
    // Streams with another number of replicas are in another tier. The stored bytes are those of all copies.
    const own = [
      { replicas: 3, bytes: 100, maxBytes: -1 },
      { replicas: 1, bytes: 300, maxBytes: 900 },
    ];
    expect(tooSmall({ ...used, tiers: { R3: { ...tier, storage: 300 } } }, own, needed)).toEqual([]);
    expect(tooSmall({ ...used, tiers: { R3: { ...tier, storage: 600 } } }, own, needed)).toEqual([
      expect.stringContaining("its storage limit leaves 900 bytes, and the streams need 1000"),
    ]);
  });

  it("are all named", () => {
    const low = { ...limits, max_streams: 3, max_consumers: 10, max_ack_pending: 1_000, storage_max_stream_bytes: 100 };
    expect(tooSmall({ ...used, limits: low }, [], needed)).toEqual([
      "its limit of streams leaves 3, and Headwater needs 15",
      "its limit of consumers of a stream is 10, and Headwater needs 64",
      expect.stringMatching(/^its limit of unacked messages of a consumer \(max_ack_pending\) is 1000, and Headwater needs \d+$/),
      "its limit of bytes of a stream is 100, and Headwater needs 310",
    ]);
  });
});
