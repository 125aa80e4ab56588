const smallestBytes = 1_024;

/** Classes of sizes, each twice as large as the one before: 0 is up to 1 KiB, 1 up to 2 KiB, 2 up to 4 KiB. */
export const sizeClassOf = (bytes: number): number => Math.max(0, Math.ceil(Math.log2(bytes / smallestBytes)));

/** The largest size of a class. */
export const bytesOfClass = (sizeClass: number): number => smallestBytes * 2 ** sizeClass;
