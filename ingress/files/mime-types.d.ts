/** What is used of mime-types, which has no types of its own. */
declare module "mime-types" {
  /** The content type of a file name, with its charset; false: not known. */
  export function contentType(name: string): string | false;
  /** The usual extension of a content type, without the dot; false: not known. */
  export function extension(contentType: string): string | false;
}
