/** An instruction of the kernel's BPF machine (Linux `Documentation/userspace-api/seccomp_filter.rst`). */
export type Instruction = readonly [code: number, jumpIfTrue: number, jumpIfFalse: number, operand: number];

export const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
export const jumpIfEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
export const jumpIfSet = 0x45; // BPF_JMP | BPF_JSET | BPF_K
export const jumpIfAtLeast = 0x35; // BPF_JMP | BPF_JGE | BPF_K
export const and = 0x54; // BPF_ALU | BPF_AND | BPF_K
export const give = 0x06; // BPF_RET | BPF_K

export const fail = (errorNumber: number): number => 0x00050000 | errorNumber;
const EPERM = 1;
export const ENOSYS = 38;

export const allowed: Instruction = [give, 0, 0, 0x7fff0000];
export const refused: Instruction = [give, 0, 0, fail(EPERM)];
export const killed: Instruction = [give, 0, 0, 0x80000000];

/** Offsets in `struct seccomp_data`. */
export const numberOffset = 0;
export const architectureOffset = 4;
/** Of the low half of an argument: both architectures are little endian. The high half follows. */
export const argumentOffset = (index: number): number => 16 + 8 * index;

/** Instructions that end a call whose argument equals one of the values. */
export const oneOf = (argument: number, values: readonly number[]): readonly Instruction[] => [
  [load, 0, 0, argumentOffset(argument)],
  ...values.flatMap((value): readonly Instruction[] => [[jumpIfEqual, 0, 1, value], allowed]),
];

/** Instructions that end a call whose argument equals a first value, and the next argument one of the values that go with it. */
export const oneOfPairs = (argument: number, pairs: readonly (readonly [number, readonly number[]])[]): readonly Instruction[] =>
  pairs.flatMap(([first, seconds]) => {
    const rest = oneOf(argument + 1, seconds);
    return [[load, 0, 0, argumentOffset(argument)], [jumpIfEqual, 0, rest.length, first], ...rest];
  });

/** Instructions that end a call all of whose arguments, from the first, equal these values of 64 bits. */
export function allOf(values: readonly bigint[]): readonly Instruction[] {
  const halves = values.flatMap((value, index) => [
    [argumentOffset(index), Number(value & 0xffff_ffffn)] as const,
    [argumentOffset(index) + 4, Number(value >> 32n)] as const,
  ]);
  return halves
    .toReversed()
    .reduce<readonly Instruction[]>(
      (rest, [offset, half]) => [[load, 0, 0, offset], [jumpIfEqual, 0, rest.length, half], ...rest],
      [allowed],
    );
}

/** @returns `struct sock_filter[]` */
export function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(program.length * 8)); // V8 moves small buffers of other kinds.
  program.forEach(([code, jumpIfTrue, jumpIfFalse, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpIfTrue, index * 8 + 2);
    bytes.writeUInt8(jumpIfFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
}
