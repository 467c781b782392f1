/** The files of the page by their names, as `npm run build` makes them. */
declare const files: Readonly<Record<string, string>>
export = files
