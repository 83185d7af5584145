const LIST_CHARACTERS = 120;

/** How long a text is once it is escaped. */
export function lengthInPage(text: string): number {
  return text.length + 4 * (text.match(/[&<"]/g)?.length ?? 0);
}

/** In a list, where the page behind has all of it. */
export function shortened(text: string, most = LIST_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** The last of these that fit, and the very last even if it does not: a page stays short, whatever there is to tell. */
export function lastThatFit<Item>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  most: number,
): readonly Item[] {
  let left = most;
  let first = items.length;
  for (const [index, item] of [...items.entries()].reverse()) {
    left -= lengthOf(item);
    if (left < 0 && first < items.length) break;
    first = index;
  }
  return items.slice(first);
}
