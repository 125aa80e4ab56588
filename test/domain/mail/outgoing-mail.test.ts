import { describe, expect, test } from "vitest";
import { bounded, isAddress, safeMail } from "../../../domain/mail/outgoing-mail.ts";

const mail = { id: "m1", to: "ada@example.com", subject: "Hello", text: "Text" };

describe("safeMail", () => {
  test("removes line breaks and control characters from the subject", () => {
    expect(safeMail({ ...mail, subject: "a\r\nBcc: b@example.com\u0000\u0085c" }).subject).toBe("a Bcc: b@example.com c");
  });

  test("bounds the subject and the bodies, and says that a body was cut", () => {
    const safe = safeMail({ ...mail, subject: "x".repeat(10_000), text: "y".repeat(3_000_000), html: "z".repeat(3_000_000) });
    expect(safe.subject).toHaveLength(250);
    expect(safe.text).toHaveLength(1_048_576 + "\n… cut after 1048576 characters".length);
    expect(safe.html?.endsWith("… cut after 1048576 characters")).toBe(true);
  });

  test("replaces unpaired surrogates and U+0000", () => {
    const safe = safeMail({ ...mail, subject: "a\uD800", text: "\uDC00b\0" });
    expect(safe.subject).toBe("a\uFFFD");
    expect(safe.text).toBe("\uFFFDb\uFFFD");
  });

  test("names a missing subject", () => {
    expect(safeMail({ ...mail, subject: " \n" }).subject).toBe("(no subject)");
  });
});

test("bounded cuts between characters", () => {
  expect(bounded("ab😀", 4)).toBe("ab😀");
  expect(bounded("ab😀c", 4)).toBe("ab\uFFFD…");
});

describe("isAddress", () => {
  test.each(["ada@example.com", "local@localhost", "grace.hopper+tag@navy.mil", "jörg@müller.example"])("accepts %s", (address) => {
    expect(isAddress(address)).toBe(true);
  });

  test.each(["", "ada", "a@b@c", "a,mallory@example.com", "a@b.c,d", "<a@b.c>", "a@b.c\r\nBcc: x", "Ada a@b.c", `"a b"@c.d`, "a@\uD800"])(
    "refuses %j",
    (address) => {
      expect(isAddress(address)).toBe(false);
    },
  );
});
