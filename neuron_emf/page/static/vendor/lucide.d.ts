declare const icons: Record<string, [string, Record<string, string>][]>;
export default icons;
