import { DOMException } from "../events/dom-exception.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map(Array.from(alphabet, (character, value) => [character.charCodeAt(0), value]));

export function btoa(input: unknown): string {
  const text = String(input);
  let result = "";
  for (let index = 0; index < text.length; index += 3) {
    const left = text.length - index;
    const [first, second, third] = [
      text.charCodeAt(index),
      left > 1 ? text.charCodeAt(index + 1) : 0,
      left > 2 ? text.charCodeAt(index + 2) : 0,
    ];
    if ((first | second | third) > 0xff) throw new DOMException("Invalid character", "InvalidCharacterError");
    const bits = (first << 16) | (second << 8) | third;
    result += letter(bits >> 18) + letter(bits >> 12) + (left > 1 ? letter(bits >> 6) : "=") + (left > 2 ? letter(bits) : "=");
  }
  return result;
}

/** The forgiving decode of the Infra Standard. */
export function atob(input: unknown): string {
  let text = String(input).replace(/[\t\n\f\r ]/g, "");
  if (text.length % 4 === 0) text = text.replace(/==?$/, "");
  if (text.length % 4 === 1) throw malformed();
  let result = "";
  let bits = 0;
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const value = values.get(text.charCodeAt(index));
    if (value === undefined) throw malformed();
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += String.fromCharCode((bits >> count) & 0xff);
  }
  return result;
}

function letter(bits: number): string {
  return alphabet.charAt(bits & 63);
}

function malformed(): DOMException {
  return new DOMException("The string to be decoded is not correctly encoded.", "InvalidCharacterError");
}
