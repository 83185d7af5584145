/** Calls in one statement. With fewer there are more statements; with more, a core of the server waits for another. */
export const MOST_TOGETHER = 8;
