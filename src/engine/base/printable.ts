// Characters that nobody sees, or that change the order of those around them, so that a name could pass for
// another or hide a line of its own: separators of lines, zero-width characters, embeddings, overrides and isolates
// of direction, and tags outside of a flag, which has at most eight of them. A joiner is hidden unless it joins letters
// or pictures, or ends a letter with its mark, as in Persian and Malayalam.
const hidden =
  /[\p{Cc}\p{Zl}\p{Zp}\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,7})[\u{e0000}-\u{e007f}]|(?<![\p{L}\p{M}\p{Emoji}])[\u200c\u200d]|(?<!\p{M})[\u200c\u200d](?![\p{L}\p{M}\p{Emoji}])/u
const everyHidden = new RegExp(hidden, 'gu')

/** Reports whether a text is one line of characters that can be seen. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !hidden.test(text)

/** Puts a text on one line without what `isOneLine` refuses, as it is shown in mails and on paper. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Zl}\p{Zp}\t-\r]/gu, ' ')
    .replace(everyHidden, '')
    .replace(/\s+/g, ' ')
    .trim()
