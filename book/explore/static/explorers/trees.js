// STORED is made by book/explore/trees.py, and explained there: run `make figures`.
"use strict";

const Trees = (() => {
  const STORED = {
    WY: {"geography": ["/ #xbn&4y)x#-*$269'0+Zgl'%UB6B/O=J.2*>DH,%5?I<''+,53-&&%D*5H*2)--O8Bx#X.739%,?13`%3AP1F$)'61{#>$i*1&>V5.P2*-,<87)0H$HGL=:'q#s&x&Pf,'#O(2gYn$0x#PK34/X`4m#3W,{'U8_l#$?7Q{,Hkt*.t)v1y'w;{%", "#oxu#{SmWrRoRyT}QsPzKuIsGuCmC|?w>r:z:o8z6z4n4u3m1o0|.l/u-u,p,w*x+y)z)l)u(}'s't'v&~%r&z%p%o%}%w$y$}$|$}#q#|#l#p#kYd_bSRQ_UJbSKEGJCEKEB>B=?EC::B>8@7857:09,532+834/16.+,+00-2-*../+.-*,+0,+'0*''(*(&(,')'&&'*))((**&''*&%''$)%'($(&()#&%+$%$&'%$$#%&'$(#$$$'$'$&$$$#%&&#%%#%'&$#%'$&%%'$$%$&#%#%&#$%$$&$$%%$$#%%'$%&'(%&%%$&$%#%$$$$$%$$$##'%$$#$$#$%%#%##$$$' %%#&#$%$($#&%$'$#%#$#%$%#$*#('#$'#'&$$#&&%#'$%)%&&#'2-&&0*)'$4&3+%$$/<'#-.)'?h)8Jv7t4"], "published": [["yw) #zHw&]w(x2.nAm=x'})u8u7q*|E{0t=w%u(wHul+st#s|8", "qc #u1w$2L'8o0u#o&x,X)F*w#d8Bx#u$D?13bw&$-z+&|$PfL)0o#G~#'s8#n&}2Xq#n'v+_v$q0}$p5~]"], ["K&$##'#######/#$#####'%#&)#'#(###*'##'%#$#*##(#$('&%#$'#(%#'%%$%%#$#$&)%#&&#$#$%##%%&#&#)$$##&(*#$&#%(%##%#$$&%&$%%#%(& %$%##%(#%$$'##$$$%$###%&$#$#$#(&%$$#''###&&%#'#$%*$'%%0%%%$#*&#%'#%'(&$$%'#.-'&.'$#*'/'&%.=,31@H)i", "$Yiko#o#l$r#w#x#}#z#}#w#s$l#{#gl#Q`UQR]MC?9D>5A(4410)%###,#)&/.-'*#&#&'##&##+##- '#$&$#&#%(##,#-%##(&#%-'/&8#$$#4.0#(#%&#'&&%$+('$(.++=01148@GHt#"]]},
    NM: {"geography": ["#& %$&#,@B~(q(l+l%y$<4464a%u#3F._260,->=.$+)FGE*<[-/3(&&($=.'70<&*),#.,#'$%,:.$8+(+#/.1'$,$&4&(-,'&./$()(%#&#&&)#*%2&'$(),%$+-%%6'%#(%#&*+%%>,1%'*%&#&<,),))*&$*$#$&(%*,4*&#/0/'*6++5%;%6%#?%3)//%$'9,&(.$'%&$(,*-(&$*+##4*&;+0#&$+&,%%.(/-(0%'$(($1(')0&#/#%'()$()%%)$)*.$$#%($('9/%*+1)'4=,&)(,#/%/0'$$($&)*.&*%$%(6'/:,$$*&#T$-.*%-*$#)#$&)0(/'&()&1#&&##''(9&&.%''.C5/$&))$.('%***(%4)$$++$,1,/(.$'$(#$#$%%B7#&%1,$&&+91&,&$'*%#'%$'$)*%$;/*#+(+$.0$$3$2%8&5'$',#;'(,%.$6)%$**<+,#$,'%*'->7)D*%#,$#,%%&(&&4+.#(,r#)>%+++8#$U.(.%E;0,*.$&)7*731.1&'%%fl#/)>.39&F-,,,%'8&(%1o#5/#6XN*v#*6&H'(L,%%8(1C5bf&E9LHl$/Rr#3,jE=(~%'=.%={%<z'l&t&Os/qC`/r)n'n0|Y~4", "#}os&oq#yx#to$op$xm$tm$~~#l|#|t#yt#|p#~h~go_nYq]oVrRpQrOtM|GnFwEnFqDlDmBl?}=};|<y9}9p:x5v8n8s6}5}5y3v4l4v1{0}0}/m/v1s.x/o-l-n-|+v,}+m,r+u+z*~*v*v*~)l)~){'~'u(v'q(s'q'p&r&z&z%z%x%q&w%r%l$l$z#{$|#l$~#u$v#~#~#q#p$n#n#l#o#q#m#egUbXPU^`ZUbXLONPNOJGSII?CKNEG@A6D@FID@>C><=772?@65:87;.97:965525146113.;4.2/55)2..4.-+15410.+/7100.00*,./+-/1)&)(+1*,&.-'/--'++)+*)'*(*&))/%/(')*')+)**'((,))*'%1**%(&&*$%&(*$'&#)&*($(&$%)((%')''&&%''%(&(&$&&&)%+&)$#$$$''(')%'&%&$$%%%$%$&%&%%$#'#'##$$#$###%'%#%%&(%&%&$&%&$$($$&#$$$%%&%#&%$(%%$$&$$%$$%&$#&&%(%#$#&#&$$$$%$#$#&&##&$%$&&%###%$$#%#$%$%& %#$%#$'&$##$%%#$%$$$#&#&&#%#$#%#%##&$'##&(*$$##%#$%$%#$$$%$$$#&$&##%#&*$*#%%($##&$$%$&$%#$'+$%%$#&#&#$%%*'')$$+)$$$%&$''*/-'$(''##%-$%$%(''(%)(#(%J$#)0$)%1J').%%/%$)2&=0n'5ER6B{$EL3;$"], "published": [["~I #sq${r#p-u*r%z&p'y*}%(l#XVGW:3:r.,Nl$p#{/Cn6o#&W3q&M-03qn#s'l9H|%,o%|&:7}$z*w+l5o5}%}6y#v${:|n#mx#w>zn%`@~{2l8xUPwn#Gwx,", "& #$/@w*q(l+l%y$<4Xx'y'H|'<[-/3.(Ib<#GF80c<:1/$.-&D?.-:34W0%&N,))5%4,J0U+gQHB72,D<*&C?u#(7'9A0%0*/$%(o#e.,#/>)28*P:,/TB-*$3H?)+(9&1%''.C5/3/l#+$:M-%B7(1-)O&=#)$'`#+I%35M'$0?(,J%S,3*u$5$,%%.O{#)@++@V3q%iS%n'l',F%q)o&*9HU,<(|%f&Eu5l-x=OtSl5zk"], ["p#$#'+).#+$3$9#)'*'--*-+(&&*)$+-,-1,$)(#'#1*+()')$2+)&34-*,&(,1/()/+*/%#-+3*+'##*&#2(,''#''+*$')2$*&(''),&'##)')+#&)&,#'%$'*'#*'#-&&#*#&'%'#)$)+%#)%'#%+#'##$)$#$%#%'$'($$%#%###(#$(#$&#$###$$%#&$$$'''&##$#$$#$'&$#&##$%$##$$#(%$%&#$%#& $$#$%#($#$$$#$$#'%'$##($%$#%$#&##$#$$(##$&#$%#%##%$$#*#*#$#$#%##%#$$&#%$%%&%)%%$%'%$)%'#$''%%%0%$#'$#)*$'&($#/$9$(%#1,'$-7&J+*0bX]]*G=[|%", "$z'n*q-q,n-q-|.u/o/~.q-{,l.w+s+q+}(r*q*})~(r(r(~'v'}'u'z'n&w%q$t%t$t%x#l#v$u#t#n$q$|#io#XNW8FTXYB9QSJ0E9'1(2300?1$+**)) $#(#)###>###A+&###N###10##%#$'/#)#&.2##(&''###,#)#'$+%#($('29&?#&4#$)$#7%/6G+$X8&?4s%K#7)p#"]]},
    DE: {"geography": ["#' #|$m8T:w&dq$q#s.p(4+{#(t%H/H-(+I*%%7)$%4):&%*J>%:O')86+j0%%6,1:A8-'L$$'s#8S&%1X+$CX44#$8/,)==%<*+0&&-/52,',*60,'CS]>*:@.28-Br#&D&*5c+%'/(,fG)%1`FJi,:5)-&Z&.2&&$(0<#)&-60T-_27**-)+b5b<+;**.8.=%:a0:,2&'b5$0)^5?C(Hq#[V,L7C:>(1$1QV:,+G*%%$Pn#'}$-ILl&T)9X3m$x$$<q#+3u$E,p18m&w$U,&+^z)o*l:", "#nv,r$~%z&u'l*w*p-~,z,n.x,r.p,l-z-n-o,m*x+l+x+p*t*})u,})~)u({*q)o(z(o)t)x)y'{'~'n'x(w'x&x%w'w&p&o&l&t%q%q%w%t%n%t%n%{$p%v#p#{#w#x#q#r#r#p#t#u#{#gakj_U_c[V[W`VXOKNYTOJV<LND?NJBCA>>:BBE=G6=5649>;C4:@85:/15+844.1+)-/3/25,+--1/0,3-0*,(123.,/&*+/-(,)&,.,-+'(****(*-++0'.*+()(+')'-)))%,&+)-&&%+&((&(%+**'&)(&$())+(*%(%'%'+**%(&%&%&'$'&&%&%%(')&(&&('&%(('''$#%'&%&&'(&*%%%#'$$&$##'&%&#&$&$%%%$#''$#&$%&%$%$$&##$$$$$&#&#$$'$%#%%#&%#$&&&$%#%$'&$%%&#%$%%%$%%$%#$#$%$#$#'#$#%###&%$%###$$%$%#&$%$%##&#$##$#$#$%&$$$$#$##$$$$#'$$#$$%#%($%&'& %#$%%$$%#$$##$$$)$$&##$$'$##$$#$##%#&$'$%'$$#%%$'$$$&#%%%#%#$%&$#$&#$%%$#%%%#&$#$$%$#$$''#%'#$&$#%$%&(#&%#%$$()$'$,%')$$%$&&&#%%%#%*#$)'$#&$'#-+/')/#$)%$#.&#&'#'&&(/'$)#%+#-$(''#$%/3#*&('%(+D(&%1&&-*((,-4>$$,8>%5ED5T(MPJ>Dz(n)8/"], "published": [["~$ #", "$ #|$"], ["#", "#"]]},
  };

  function numbers(text) {
    const found = [];
    let value = 0, unit = 1;
    for (const letter of text) {
      const code = letter.charCodeAt(0), digit = code - (code > 92 ? 36 : 35);
      value += digit * unit;
      if (digit < 72) { found.push(value); value = 0; unit = 1; } else unit *= 19;
    }
    return found;
  }

  // Count the nodes that a text tells of into `nodes` (how many have each count), or take them out.
  function add(nodes, text, sign) {
    const [[least, ...often], steps = []] = text.split(" ").map(numbers);
    const put = (count, times) => nodes.set(count, (nodes.get(count) ?? 0) + sign * times);
    often.forEach((times, i) => put(least + i, times));
    steps.reduce((count, step) => (put(count + step, 1), count + step), least + often.length);
  }

  function level(all, [come, go], tree) {
    const nodes = new Map();
    add(nodes, all, 1);
    if (tree !== "geography") nodes.delete(0);
    if (tree === "published") { add(nodes, come, 1); add(nodes, go, -1); }
    const found = [...nodes].filter(([, times]) => times);
    return { values: found.map(([count]) => count), times: found.map(([, times]) => times) };
  }

  // The levels of a tree, top first: state, tracts, blocks.
  function load(state, tree) {
    const { geography, published } = STORED[state];
    const [tracts, blocks] = geography.map((all, i) => level(all, published[i], tree));
    const people = tracts.values.reduce((sum, count, i) => sum + count * tracts.times[i], 0);
    return [{ values: [people], times: [1] }, tracts, blocks];
  }

  return { load };
})();
