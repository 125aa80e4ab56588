import { describe, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../crds/kinds.ts";
import { structural } from "../../crds/rules.ts";
import { fieldsOf } from "../../scripts/generate/fields.ts";
import { rootSchema } from "../../scripts/generate/definition.ts";
import { structuralSchema } from "../../scripts/generate/structural.ts";

describe("a structural schema", () => {
  it("has types and no keywords of JSON Schema only", () => {
    const schema = z.object({ a: z.record(z.string(), z.int()).default({}), b: z.array(z.enum(["x", "y"])).optional() });
    expect(structuralSchema(schema)).toEqual({
      type: "object",
      properties: {
        a: { type: "object", default: {}, additionalProperties: { type: "integer", format: "int64" } },
        b: { type: "array", items: { type: "string", enum: ["x", "y"] } },
      },
    });
  });

  it("of a union is the given structural form", () => {
    const either = z.union([z.string(), z.number()]);
    expect(() => structuralSchema(z.object({ either }))).toThrow(".either: a union needs its structural form given");
    expect(structuralSchema(structural(either, { "x-kubernetes-int-or-string": true }))).toEqual({ "x-kubernetes-int-or-string": true });
  });

  it("is refused if it would lose a constraint", () => {
    expect(() => structuralSchema(z.object({ text: z.string().startsWith("a") }))).toThrow(".text: no structural form of pattern");
    expect(() => structuralSchema(z.object({ any: z.unknown() }))).toThrow(".any: a structural schema needs a type");
  });
});

describe("the definitions", () => {
  it.each(kinds.map((kind) => [kind.kind, kind] as const))("describe every field of %s", (_name, kind) => {
    const fields = fieldsOf(rootSchema(kind)).filter(({ path }) => path !== "metadata");
    expect(fields.filter(({ description }) => description === "").map(({ path }) => path)).toEqual([]);
  });
});
