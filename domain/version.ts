/** Version of Headwater, as package.json has it. */
export const platformVersion = "0.1.0";
