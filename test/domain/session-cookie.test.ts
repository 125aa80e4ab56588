import { describe, expect, test } from "vitest";
import { cookieValues, sessionCookies, setsSession, withoutSession } from "../../domain/session-cookie.ts";

const { http, https } = sessionCookies;

describe("the session cookie", () => {
  test("is found among others, by its exact name, and however often", () => {
    expect(cookieValues(`a=1; ${http}=token; b=2`, http)).toEqual(["token"]);
    expect(cookieValues(`${http}=one;${http} = two`, http)).toEqual(["one", "two"]);
    expect(cookieValues(`x${http}=token; ${https}=token; =${http}=token`, http)).toEqual([]);
    expect(cookieValues(undefined, http)).toEqual([]);
  });

  test("is removed under both names, wherever it stands, and however often", () => {
    expect(withoutSession(`a=1;${http}=x; b=2;  ${http} = y; ${https}=z`)).toBe("a=1; b=2");
    expect(withoutSession(`${http}=x`)).toBeUndefined();
    expect(withoutSession("")).toBeUndefined();
  });

  test.each([
    `${http}=x; Path=/`,
    `${https}=x; Secure; Path=/`,
    ` ${http} =x`,
    `\t${http}=x`,
    `=${http}=x`,
    ` =${https}=x; Path=/v1`,
    `=x`,
    http,
    `; Path=/`,
    "",
  ])("is recognized in Set-Cookie: '%s'", (header) => {
    expect(setsSession(header)).toBe(true);
  });

  test.each([`other=${http}; Path=/`, `a=${http}=x`, `x${http}=x`, "a=1; Path=/; HttpOnly", "a="])(
    "leaves other cookies alone: '%s'",
    (header) => {
      expect(setsSession(header)).toBe(false);
    },
  );
});
