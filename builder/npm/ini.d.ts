/** What we use of `ini`, which has no types of its own. */
declare module "ini" {
  export function parse(text: string): Record<string, unknown>;
}
