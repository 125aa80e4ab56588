/** Give TypeScript the shape of a component; at run time they hand back what they are given. */
export const defineSource = <T>(component: T): T => component;
export const defineAction = <T>(component: T): T => component;
export const defineApp = <T>(component: T): T => component;
