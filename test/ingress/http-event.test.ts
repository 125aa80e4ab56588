import { describe, expect, it } from "vitest";
import { originForm, parseQuery } from "../../ingress/http-event.ts";

describe("a query", () => {
  it("has one value, or all values of a repeated name in order", () => {
    expect(parseQuery("a=1&b=2&a=3&a=&c")).toEqual({ a: ["1", "3", ""], b: "2", c: "" });
    expect(parseQuery("")).toEqual({});
  });

  it("accepts names of object properties, and thousands of values of one name", () => {
    const query = parseQuery(`__proto__=1&constructor=2&${Array(8_000).fill("a").join("&")}`);
    expect(Object.getPrototypeOf(query)).toBe(Object.prototype);
    expect(Object.entries(query).map(([name, value]) => [name, value.length])).toEqual([
      ["__proto__", 1],
      ["constructor", 1],
      ["a", 8_000],
    ]);
  });
});

describe("the target of a request", () => {
  it("is a path, or the path of an absolute URL", () => {
    expect(
      ["/k/a?b", "//k", "http://h/k/a?b", "HTTPS://u@h:1/k", "http://h?x", "http://h", "http:///k", "*", "h:443", "ftp://h/k"].map(
        originForm,
      ),
    ).toEqual(["/k/a?b", "//k", "/k/a?b", "/k", "/?x", "/", "/k", "*", "h:443", "ftp://h/k"]);
  });
});
