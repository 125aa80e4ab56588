import { describe, expect, test } from "vitest";
import { complaintAbout } from "../../../domain/component/prop-types.ts";

const valid = [
  "report.pdf",
  "/tmp/report.pdf",
  "a/b c/ü.txt",
  "/tmp/a:b",
  "http://x",
  "https://example.com/a?b=c#d",
  "HTTPS://example.com",
  "tmp/a",
  "https://example.com/@me",
];
const invalid = [
  "",
  "/",
  "/tmp",
  "/tmp/",
  "/etc/passwd",
  "/tmp/../etc/passwd",
  "a/../b",
  "a//b",
  "./a",
  "a\0b",
  "\ud800",
  "x".repeat(1_025),
  `https://example.com/${"x".repeat(2_048)}`,
  "https:",
  "https://",
  "http:///tmp/a",
  "https://user:secret@example.com/a",
  "http://a b/",
  "file:///tmp/a",
  "ftp://example.com/a",
  "data:text/plain,a",
  "javascript:alert(1)",
  "C:\\a",
  5,
  null,
  [],
  {},
  true,
];
const constant = (value: unknown) => complaintAbout({ name: "p", type: "file" }, value);

describe("the value of a file prop", () => {
  test.each(valid)("may be %j", (value) => expect(constant(value)).toBeUndefined());

  test.each(invalid)("is refused if it is %j", (value) => {
    expect(constant(value)?.message).toContain("must be a path below /tmp such as /tmp/report.pdf, or an http or https URL");
  });

  test("may be a list, of which each element is checked", () => {
    const list = { name: "p", type: "file[]" };
    expect(complaintAbout(list, valid)).toBeUndefined();
    expect(complaintAbout(list, ["a", "/b"])?.message).toContain("an array (file[]) in which each element is a path below /tmp");
    expect(complaintAbout(list, "a")?.message).toContain("must be an array (file[])");
  });
});
