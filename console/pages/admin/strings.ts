export const text = { title: "Admin" } as const;
