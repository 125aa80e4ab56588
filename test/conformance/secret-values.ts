import { expect, test } from "vitest";
import type { SecretHolder, SecretValues } from "../../crds/secret-values.ts";

export interface SecretValuesUnderTest {
  readonly values: SecretValues;
  /** A resource in a namespace that exists. */
  readonly holder: SecretHolder & { readonly uid: string };
}

const secret = "whsec_never_told";

/** What every SecretValues does. `make` is called once per test. */
export function secretValuesConformance(make: () => Promise<SecretValuesUnderTest>): void {
  test("what is kept is read again, whatever its name and text", async () => {
    const { values, holder } = await make();
    const texts = { token: secret, "$ünusual name!": "\u0000 😀 \n", "..": "", big: "x".repeat(100_000) };
    const references = await values.keep(holder, texts);
    expect(Object.keys(references).toSorted()).toEqual(Object.keys(texts).toSorted());
    for (const [name, text] of Object.entries(texts)) {
      const reference = references[name];
      expect(reference !== undefined && (await values.read(holder, reference))).toBe(text);
    }
  });

  test("keeping nothing makes nothing", async () => {
    const { values, holder } = await make();
    expect(await values.keep(holder, {})).toEqual({});
  });

  test("what was kept before stays as it is when more is kept", async () => {
    const { values, holder } = await make();
    const { token: first = {} } = await values.keep(holder, { token: "first" });
    const { token: second = {} } = await values.keep(holder, { token: "second" });
    expect(await values.read(holder, first)).toBe("first");
    expect(await values.read(holder, second)).toBe("second");
  });

  test("what is referred to outlives settling, which may be repeated", async () => {
    const { values, holder } = await make();
    const { token = {} } = await values.keep(holder, { token: secret });
    await values.settle(holder, [token]);
    await values.settle(holder, [token]);
    expect(await values.read(holder, token)).toBe(secret);
  });

  test("a Secret that is not there is NotFound, by its name", async () => {
    const { values, holder } = await make();
    const reading = values.read(holder, { secretKeyRef: { name: "none", key: "token" } });
    await expect(reading).rejects.toMatchObject({ status: 404, message: expect.stringContaining("'none'") });
  });

  test("a sealed text that is not ours is refused, and not repeated", async () => {
    const { values, holder } = await make();
    const error: Error = await values.read(holder, { sealed: secret }).then(
      () => new Error("read"),
      (refusal: Error) => refusal,
    );
    expect(error).toMatchObject({ status: 422 });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(secret);
  });
}
