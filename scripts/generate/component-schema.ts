import { z } from "zod";
import { writtenComponent } from "../../domain/component/definition-schema.ts";

/** JSON Schema of a component definition, for editors and programs. */
export function componentSchema(): string {
  const schema = z.toJSONSchema(writtenComponent, { io: "input" });
  return `${JSON.stringify({ $id: "https://headwater.dev/component.schema.json", title: "Headwater component", ...schema }, undefined, 2)}\n`;
}
