/** A reason that stands in a line of its own, and so begins like a sentence. */
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
