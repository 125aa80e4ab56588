import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { InvalidInput } from "../../../domain/errors.ts";
import { checkCredentials, showCredentials, splitCredentials, withoutCredentials } from "../../../domain/secrets/url-credentials.ts";

describe("the credentials of a URL", () => {
  it.each<readonly [string, string, string | undefined]>([
    ["https://host/a@b?c@d", "https://host/a@b?c@d", undefined],
    ["https://ada:secret@host/a", "https://host/a", "ada:secret"],
    ["HTTPS://ada:se:cret@host:8080", "HTTPS://host:8080", "ada:se:cret"],
    ["http://a%40b:p%3A%25%C3%A9@host/", "http://host/", "a@b:p:%é"],
    ["http://token@host/", "http://host/", "token:"],
    ["http://:secret@host/", "http://host/", ":secret"],
    ["http://a@b:c@host/", "http://host/", "a@b:c"],
    ["http://@host/", "http://host/", undefined],
    ["http://***@host/", "http://host/", "***"],
  ])("%s", (given, url, credentials) => {
    expect(splitCredentials(given)).toEqual({ url, credentials });
    expect(withoutCredentials(given)).toBe(url);
  });

  it("that are not percent-encoded are refused without being repeated", () => {
    expect(() => splitCredentials("http://ada:100%secret@host/")).toThrow(InvalidInput);
    expect(() => splitCredentials("http://ada:100%secret@host/")).not.toThrow("secret");
  });

  it("are shown as three asterisks", () => {
    expect(showCredentials("https://host/a", true)).toBe("https://***@host/a");
    expect(showCredentials("https://host/a", false)).toBe("https://host/a");
  });

  it.each(["none", "user:pass\nword", "user:\0"])("%j are refused as a header", (text) => {
    expect(() => checkCredentials(text)).toThrow("the credentials are invalid: they must be user:password, on one line");
  });
});

test("a URL keeps its host and path when any credentials are removed", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 }).map(encodeURIComponent);
  fc.assert(
    fc.property(text, text, (user, password) => {
      const { url, credentials } = splitCredentials(`https://${user}:${password}@host:8443/p?q`);
      expect(url).toBe("https://host:8443/p?q");
      expect(credentials).toBe(`${decodeURIComponent(user)}:${decodeURIComponent(password)}`);
    }),
  );
});
