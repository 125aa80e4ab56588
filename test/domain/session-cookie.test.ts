import { describe, expect, test } from "vitest";
import { cookieValue, sessionCookie, setsCookie, withoutCookie } from "../../domain/session-cookie.ts";

describe("the session cookie", () => {
  test("is found among others, by its exact name", () => {
    expect(cookieValue(`a=1; ${sessionCookie}=token; b=2`, sessionCookie)).toBe("token");
    expect(cookieValue(`x${sessionCookie}=token`, sessionCookie)).toBeUndefined();
    expect(cookieValue(undefined, sessionCookie)).toBeUndefined();
  });

  test("is removed wherever it stands, and however often", () => {
    expect(withoutCookie(`a=1;${sessionCookie}=x; b=2;  ${sessionCookie} = y`, sessionCookie)).toBe("a=1; b=2");
    expect(withoutCookie(`${sessionCookie}=x`, sessionCookie)).toBeUndefined();
    expect(withoutCookie("", sessionCookie)).toBeUndefined();
  });

  test("is recognized in Set-Cookie", () => {
    expect(setsCookie(`${sessionCookie}=x; Path=/`, sessionCookie)).toBe(true);
    expect(setsCookie(`other=${sessionCookie}; Path=/`, sessionCookie)).toBe(false);
  });
});
