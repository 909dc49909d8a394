/** The most rows of a page, whatever was asked for. */
export const PAGE_MAX = 1000;
