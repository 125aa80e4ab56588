import { Blob, bytesOf, File } from "./blob.ts";
import { tag } from "../define.ts";

export type FormDataValue = string | File;

export class FormData {
  #entries: [name: string, value: FormDataValue][] = [];

  constructor(form?: unknown) {
    if (form !== undefined) throw new TypeError("FormData constructor: there are no forms here, so it takes no argument");
  }

  append(name: string, value: unknown, filename?: string): void {
    if (arguments.length < 2) throw new TypeError("FormData.append: 2 arguments required");
    this.#entries.push([toName(name), toValue(value, filename, "append")]);
  }
  set(name: string, value: unknown, filename?: string): void {
    if (arguments.length < 2) throw new TypeError("FormData.set: 2 arguments required");
    const entry: [string, FormDataValue] = [toName(name), toValue(value, filename, "set")];
    const index = this.#entries.findIndex(([known]) => known === entry[0]);
    if (index < 0) this.#entries.push(entry);
    else this.#entries = this.#entries.flatMap((known, at) => (at === index ? [entry] : known[0] === entry[0] ? [] : [known]));
  }
  delete(name: string): void {
    this.#entries = this.#entries.filter(([known]) => known !== toName(name));
  }
  get(name: string): FormDataValue | null {
    return this.#entries.find(([known]) => known === toName(name))?.[1] ?? null;
  }
  getAll(name: string): FormDataValue[] {
    return this.#entries.filter(([known]) => known === toName(name)).map(([, value]) => value);
  }
  has(name: string): boolean {
    return this.#entries.some(([known]) => known === toName(name));
  }
  forEach(callback: (value: FormDataValue, name: string, form: FormData) => void, self?: unknown): void {
    for (const [name, value] of this.#entries) Reflect.apply(callback, self, [value, name, this]);
  }
  *entries(): IterableIterator<[string, FormDataValue]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }
  *keys(): IterableIterator<string> {
    for (const [name] of this.#entries) yield name;
  }
  *values(): IterableIterator<FormDataValue> {
    for (const [, value] of this.#entries) yield value;
  }
  [Symbol.iterator](): IterableIterator<[string, FormDataValue]> {
    return this.entries();
  }
}

function toName(name: unknown): string {
  return String(name).toWellFormed();
}

function toValue(value: unknown, filename: string | undefined, method: string): FormDataValue {
  if (!(value instanceof Blob)) {
    if (filename !== undefined) throw new TypeError(`FormData.${method}: a filename needs a Blob`);
    return String(value).toWellFormed();
  }
  if (value instanceof File && filename === undefined) return value;
  const name = filename === undefined ? "blob" : String(filename);
  return new File([bytesOf(value)], name, {
    type: value.type,
    ...(value instanceof File ? { lastModified: value.lastModified } : {}),
  });
}

tag(FormData, "FormData");
