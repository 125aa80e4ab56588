/** The source text of the action that steps which control others run: it returns what its expression gives. */
export const controlCode = `export default {
  type: "action",
  name: "Control",
  version: "1.0.0",
  props: { value: { type: "any", optional: true } },
  run() {
    return this.value;
  },
};
`;
