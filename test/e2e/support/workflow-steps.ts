/** A step of a workflow in a request, with code of its own. @param body of `run({ steps, $ })` */
export const step = (name: string, body: string) => ({
  name,
  component_code: `export default { type: "action", name: "A step", version: "1.0.0", async run({ steps, $ }) { ${body} } };`,
});

export interface Workflow {
  readonly id: string;
}
